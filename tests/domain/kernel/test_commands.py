"""The validation that all commands share (contract A4, A5)."""

import copy
import itertools
import json
import pickle
import traceback
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from logoadmin import CreateLink, Details, InvalidInput, JudgeCss, SignInWithFactor
from logoadmin.domain.changes import bulk_changes as bulk
from logoadmin.domain.changes import import_export
from logoadmin.domain.changes import proposal_commands as proposals
from logoadmin.domain.gallery import artworks, authors, picture_commands
from logoadmin.domain.identity import roles, sessions, users
from logoadmin.domain.identity import service_keys as keys
from logoadmin.domain.kernel.command import UNSET, Command, fields_of, problems_of
from logoadmin.domain.kernel.lists import ListCommand
from logoadmin.domain.publication import shared_settings as settings
from tests.gallery import ARTWORK, ASKED, failure, problems, sample
from tests.strategies import anything

SECRET = "hunter2-hunter2"

# Optional fields, besides those that an amendment leaves unchanged.
OPTIONAL = {
    *((users.CreateUser, "avatar"), (users.CreateUser, "role_id"), (users.SetPassword, "current_password")),
    *((CreateLink, "user_id"), (CreateLink, "username"), (CreateLink, "avatar")),
    *((sessions.Revoke, "refresh_token"), (SignInWithFactor, "recovery_code"), (SignInWithFactor, "passkey")),
    *((keys.CreateKey, "expires_in"), (artworks.CreateTheme, "active"), (artworks.CreateLogo, "active")),
    *((artworks.CreateTheme, "details"), (artworks.CreateLogo, "details")),
    (import_export.ImportRecords, "dry_run"),
    *((artworks.AmendTheme, "unblock"), (artworks.AmendLogo, "unblock"), (bulk.ApplyChanges, "dry_run")),
    *((bulk.ApplyChanges, "continues"), (roles.AmendRole, "dry_run"), (import_export.ExportRecords, "kind")),
    *((proposals.ProposeChanges, "note"), (proposals.ProposeChanges, "dry_run"), (proposals.ApplyProposal, "dry_run")),
    (picture_commands.SendPicture, "source"),
    (picture_commands.GetPicture, "thumbnail"),
    *((import_export.ImportRecords, "kind"), (import_export.ImportRecords, "charset")),
    *((import_export.ExportRecords, "format"), (JudgeCss, "target")),
}
OPTIONAL |= {(kind, name) for kind in ASKED if issubclass(kind, ListCommand) for name in kind.model_fields}
OPTIONAL -= {(artworks.ListAuthorLogos, "author_id"), (artworks.ListAuthorThemes, "author_id")}
AMENDMENTS = {
    users.AmendUser: {"username", "avatar", "role_id", "active"},
    roles.AmendRole: {"name", "scope"},
    authors.AmendAuthor: {"user_id", "username"},
    artworks.AmendTheme: {"name", "preview_url", "target", "custom_css", "details", "active"},
    artworks.AmendLogo: {"name", "preview_url", "target", "custom_css", "details", "active"},
    settings.AmendSettings: {
        *("picture_hosts", "gallery_title", "gallery_home", "gallery_mark", "gallery_accent", "gallery_targets"),
        "submission_rules",
    },
    proposals.AmendProposal: {"title", "note", "changes"},
}
NULLABLE = ("avatar", "expires_in", "source", "gallery_title", "gallery_home", "gallery_mark", "gallery_accent")
ANYTHING = anything()


def problems_with(kind: type[Command], values: dict[str, Any]) -> list[tuple[tuple[str | int, ...], str]]:
    return [*problems(kind, **values).items()]


@pytest.mark.rule("contract A4")
@pytest.mark.parametrize("kind", ASKED)
def test_a_field_that_is_not_defined_is_refused(kind: type[Command]) -> None:
    for name in ("x", "Username", "user_Id", "need", "model_config", "self", "", " user_id", "__init__"):
        assert problems_with(kind, ASKED[kind][1] | {name: 1}) == [((name,), "extra_forbidden")]


@pytest.mark.rule("contract A4")
@pytest.mark.parametrize("kind", ASKED)
def test_null_is_refused_unless_the_field_is_nullable(kind: type[Command]) -> None:
    for name in fields_of(kind):
        values = ASKED[kind][1] | {name: None}
        is_filter = issubclass(kind, ListCommand) and (kind, name) in OPTIONAL
        is_csv = (kind, name) == (import_export.ImportRecords, "kind")
        is_patch = name == "details" and kind in AMENDMENTS
        if is_patch or is_csv or name in NULLABLE or (is_filter and name not in ("order", "sort", "versions")):
            assert getattr(kind(**values), name) is None
        else:
            assert [loc for loc, _ in problems_with(kind, values)] == [(name,)]


@pytest.mark.rule("spec §Rules 2", "spec §Rules 3", "spec §Rules 4", "contract A14")
@pytest.mark.parametrize("kind", ASKED)
def test_a_field_is_required_unless_declared_optional(kind: type[Command]) -> None:
    for name in fields_of(kind):
        values = {field: value for field, value in ASKED[kind][1].items() if field != name}
        if (kind, name) in OPTIONAL or name in AMENDMENTS.get(kind, ()):
            kind(**values)
        else:
            assert problems_with(kind, values) == [((name,), "missing")]


@pytest.mark.rule("contract A4", "spec §Rules 2")
@pytest.mark.parametrize("kind", AMENDMENTS)
def test_an_amendment_changes_the_given_fields_only(kind: type[Command]) -> None:
    asked = ASKED[kind][1]
    ids = {name: value for name, value in asked.items() if name not in AMENDMENTS[kind]}
    assert len(ids) == (kind is not settings.AmendSettings)  # there is one such record
    assert kind(**ids).new_values() == {}
    for name in AMENDMENTS[kind]:
        value = kind(**asked).new_values()[name] if name == "changes" else asked[name]
        if name == "details":
            value = Details(**asked[name])
        elif name in ("scope", "picture_hosts"):
            value = tuple(value)
        assert kind(**ids, **{name: asked[name]}).new_values() == {name: value}
    assert set(kind(**asked).new_values()) == AMENDMENTS[kind]


@pytest.mark.rule("contract A4")
@pytest.mark.parametrize("kind", AMENDMENTS)
def test_the_marker_for_unset_fields_is_not_a_valid_value(kind: type[Command]) -> None:
    for name in AMENDMENTS[kind]:
        problems = problems_with(kind, ASKED[kind][1] | {name: UNSET})
        assert {loc for loc, _ in problems} == {(name,)}
    assert repr(UNSET) == "UNSET"


@pytest.mark.rule("contract H6", "contract A4")
@pytest.mark.parametrize("kind", ASKED)
def test_a_serialized_command_is_the_same_command_and_lacks_unset_fields(kind: type[Command]) -> None:
    required = {name: value for name, value in ASKED[kind][1].items() if name not in AMENDMENTS.get(kind, ())}
    for command in (sample(kind), kind(**required)):
        serialized = command.model_dump_json(by_alias=False)
        assert kind.model_validate_json(serialized) == command
        assert "UNSET" not in serialized


@pytest.mark.rule("contract H6", "contract A2")
@pytest.mark.parametrize("kind", ASKED)
def test_a_copy_with_other_values_is_validated_like_a_new_command(kind: type[Command]) -> None:
    command = sample(kind)
    assert command.model_copy(update=ASKED[kind][1]) == command.model_copy() == command
    for name in fields_of(kind):
        assert failure(command.model_copy, update={name: object()}) is InvalidInput
        assert failure(command.copy, update={name: object()}) is InvalidInput
        assert failure(kind.model_construct, **ASKED[kind][1] | {name: object()}) is InvalidInput


@pytest.mark.rule("contract H6")
@pytest.mark.parametrize("kind", ASKED)
def test_a_copy_in_this_or_another_process_is_the_same_command(kind: type[Command]) -> None:
    command = sample(kind)
    assert pickle.loads(pickle.dumps(command)) == copy.deepcopy(command) == command.model_copy(deep=True) == command


@pytest.mark.rule("contract A5")
def test_all_problems_are_reported_at_once() -> None:
    given_ = {"user_id": -1, "username": "", "avatar": 5, "surname": "x"}
    assert problems_with(users.CreateUser, given_) == [
        *((("user_id",), "greater_than_equal"), (("username",), "string_too_short"), (("avatar",), "string_type")),
        *((("password",), "missing"), (("surname",), "extra_forbidden")),
    ]
    artwork = {**ARTWORK, "name": "", "preview_url": "x", "target": "", "active": 1, "custom_css": None}
    assert {loc for loc, _ in problems_with(artworks.CreateLogo, artwork)} == {(name,) for name in ARTWORK}


@pytest.mark.rule("contract A5")
@pytest.mark.parametrize("kind", ASKED)
def test_an_error_never_repeats_the_input(kind: type[Command]) -> None:
    spoilt_ones = (SECRET * 20_000, f"{SECRET}\0", f"{SECRET}\ud800", [SECRET], {SECRET: SECRET}, SECRET.encode())
    for name, spoilt in itertools.product(fields_of(kind), spoilt_ones):
        if name in ("details", "gallery_targets") and isinstance(spoilt, dict):
            continue  # the location of a problem has the name of the field
        with pytest.raises(InvalidInput) as caught:
            kind(**(ASKED[kind][1] | {name: spoilt, "surplus": SECRET}))
        error = caught.value
        assert error.__cause__ is None
        assert error.__context__ is None
        texts = [str(error), repr(error), repr(error.problems), repr(error.args), *traceback.format_exception(error)]
        assert not [text for text in texts if SECRET in text]


@pytest.mark.rule("contract A5")
def test_constructing_a_command_raises_our_error_and_validating_it_pydantics_without_the_input() -> None:
    given_: dict[str, Any] = {"user_id": SECRET}
    kind: type[Command] = users.CreateUser
    makes: tuple[tuple[type[Exception], Callable[[], object]], ...] = (
        (InvalidInput, lambda: kind(**given_)),
        (ValidationError, lambda: kind.model_validate(given_)),
        (ValidationError, lambda: kind.model_validate_json(json.dumps(given_))),
        (TypeError, lambda: setattr(kind(**ASKED[kind][1]), "password", SECRET)),
    )
    for error, make in makes:
        with pytest.raises(error) as caught:
            make()
        assert SECRET not in "".join(traceback.format_exception(caught.value, chain=True))


@pytest.mark.rule("contract A5", "contract H6")
@pytest.mark.parametrize("kind", ASKED)
def test_pydantic_reports_the_same_problems_as_our_error(kind: type[Command]) -> None:
    for values in ({"x": 1}, dict.fromkeys([*kind.model_fields, "x"], 1.5), ASKED[kind][1] | {"x": SECRET}):
        with pytest.raises(InvalidInput) as ours:
            kind(**values)
        with pytest.raises(ValidationError) as theirs:
            TypeAdapter(kind).validate_python(values)
        assert problems_of(theirs.value) == ours.value.problems


@pytest.mark.rule("contract A5", "contract H6")
@given(kind=st.sampled_from(list(ASKED)), data=st.data())
def test_any_input_is_accepted_or_refused_as_invalid(kind: type[Command], data: st.DataObject) -> None:
    names = st.sampled_from([*kind.model_fields, "x"])
    values = data.draw(st.dictionaries(names | st.text(max_size=3), ANYTHING, max_size=4))
    try:
        kind(**(ASKED[kind][1] | values))
    except InvalidInput as error:
        assert error.problems  # noqa: PT017 (both ways are right)
