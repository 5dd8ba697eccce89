"""The declaration of an endpoint, and its derived properties."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from types import GenericAlias, NoneType
from typing import Any, Final, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter

from logoadmin.domain.changes.proposal_commands import Proposal
from logoadmin.domain.gallery.picture_commands import KeptPicture
from logoadmin.domain.identity.records import SignInEvent
from logoadmin.domain.kernel.access import PUBLIC, Caller, Permission
from logoadmin.domain.kernel.command import DRY_RUN, MAX_JSON, MOST_MARKS, REQUEST_OPTIONS, Command, fields_of
from logoadmin.domain.kernel.kinds import RECORDED_KINDS, AnyKind
from logoadmin.domain.kernel.limits import MAX_PICTURE
from logoadmin.domain.kernel.lists import Listing, SearchedCommand
from logoadmin.domain.kernel.pagination import VERSIONED
from logoadmin.domain.kernel.use_cases import Service, UseCaseOf, right_of, rights_of
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.public_url import PublicUrl
from logoadmin.domain.publication.css.verdict import Verdict

GRANT_TYPE: Final = "grant_type"

# The media types of bodies.
JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
# JSON Lines has two media types; exports use the first.
JSON_LINES: Final = ("application/jsonl", "application/x-ndjson")
# The fields that a form may have; others are ignored (RFC 6749 §3.2).
FORM_FIELDS: Final = frozenset({"grant_type", "username", "password", "refresh_token"})
CSV: Final = "text/csv"
OCTETS: Final = "application/octet-stream"
TEXT: Final = "text/plain"
# Generated clients can send octets. Imports are never accepted as text/plain, which a page of any origin may send to a
# service on localhost without a preflight request (Fetch, CORS-safelisted headers).
IMPORTED: Final = (*JSON_LINES, CSV, OCTETS)
EXPORTED: Final = (*JSON_LINES, TEXT)
# Only the content of a picture is checked. SVG is not listed, since it is rejected with advice.
PICTURES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp", OCTETS)

SMALL_BODY: Final = 64 * 1024
MAX_UPLOAD: Final = 64 * 1024 * 1024

# A field in a path template; the group is its name.
PATH_FIELD: Final = re.compile(r"{(\w+)}")

# A method of a service class.
AnyUseCase = UseCaseOf[Any, Any, Any] | Callable[..., Any]

# Shared by several descriptions.
LEFT_OUT: Final = "Omitted fields stay unchanged."


@dataclass(frozen=True, slots=True)
class Grant:
    """A way to obtain tokens, which OAuth 2 identifies by ``grant_type`` (contract C1, RFC 6749 §4).

    Attributes:
        value: the value of ``grant_type``; the default is that of a body without one.
        text: its description in the OpenAPI document.
        command: the command made from the other fields of the body.
    """

    value: str
    text: str
    command: type[Command]
    use_case: Callable[..., Any]
    is_default: bool = False

    def described(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON schema of a body with this grant, from the schema of its command."""
        field = {"const": self.value, "description": self.text, "title": "Grant Type", "type": "string"}
        own = {**body, "properties": {GRANT_TYPE: field, **body["properties"]}}
        if "examples" in body:
            own["examples"] = [{GRANT_TYPE: self.value, **example} for example in body["examples"]]
        if self.is_default:
            field["default"] = self.value
        else:
            own["required"] = [GRANT_TYPE, *body.get("required", ())]
        return own


@dataclass(frozen=True, eq=False)
class Operation:
    """A row of the table: a method on a path, its command, its use case and its possible responses.

    Attributes:
        source: the line of the specification or the contract that requires it.
        route: the HTTP method and the path, with the command's fields in braces.
        command: the command made from path and body.
        use_case: the use case, a method of its service class, such as ``LogoService.get``.
        answer: the type of the answer; ``tuple[X, ...]`` and ``Listing[X]`` are arrays, the latter streamed.
        summary: its effect in a few words, for readers new to this program.
        description: further details in Markdown.
        success: the status on success, 201 if it creates a record.
        also: additional error statuses, which :mod:`logoadmin.entrypoints.http_api.openapi_texts` cannot derive.
        grants: the grants for each ``grant_type`` of the body, first that of the operation's own command and use case;
            the body may then also be a form (RFC 6749 §4.3).
        bodiless: whether the body may be missing.
        takes_jsonl: whether the body is JSON Lines or CSV, and the fields of the command are in the query.
        takes_file: whether the body is a picture, and the fields of the command are in the query.
        existing: the status if the answer already existed, if different.
        whole_body: the field of the command that is the whole body, a JSON object; empty if the body has the fields.
        dry_run: the use case and the answer of a request with ``dry_run=true``, if different.
        shown: makes the answer from the result of the use case and the public URL; None if they are the same.
        attachment: the file name of a response in JSON Lines or CSV; empty for JSON.
    """

    source: str
    route: str
    command: type[Command]
    use_case: AnyUseCase
    answer: Any
    summary: str
    description: str
    success: int = 200
    also: tuple[int, ...] = ()
    grants: tuple[Grant, ...] = ()
    bodiless: bool = False
    takes_jsonl: bool = False
    takes_file: bool = False
    existing: int | None = None
    whole_body: str = ""
    dry_run: tuple[AnyUseCase, Any] | None = None
    shown: Callable[[Any, PublicUrl], Any] | None = None
    attachment: str = ""

    @cached_property
    def name(self) -> str:
        """The unique name, derived from the command's, such as ``create_logo``."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.command.__name__).lower()

    @cached_property
    def permission(self) -> Permission:
        """The right that its use case requires (contract B6)."""
        return right_of(_services()[self.service], self.use_case.__name__, self.command)

    @cached_property
    def service(self) -> str:
        """The attribute of :class:`~logoadmin.domain.logo_admin.LogoAdmin` with its use case, such as ``logos``."""
        name = self.use_case.__name__
        for attribute, of in _services().items():
            if getattr(of, name, None) is self.use_case and self.command in rights_of(of, name):
                return attribute
        raise TypeError(f"{self.use_case.__qualname__} takes no {self.command.__name__}")

    def use_case_of(self, gallery: LogoAdmin) -> Callable[[Command, Caller], Any]:
        """Return its use case, bound to the service of a gallery."""
        bound: Callable[[Command, Caller], Any] = getattr(getattr(gallery, self.service), self.use_case.__name__)
        return bound

    @property
    def tag(self) -> str:
        """The tag: the first segment of its path after ``/api``, or its service instead of ``auth``."""
        of = self.path.split("/")[2]
        return self.service if of == "auth" else of

    @cached_property
    def kind(self) -> AnyKind | None:
        """The kind of the answer, if it is a record."""
        return next((kind for kind in RECORDED_KINDS.values() if kind.record is self.answer), None)

    @cached_property
    def by_grant_type(self) -> "Mapping[str, Operation]":
        """The operation for each value of ``grant_type``, with the command and use case of the grant."""
        return {grant.value: replace(self, command=grant.command, use_case=grant.use_case) for grant in self.grants}

    def asked_by(self, command: Command) -> "Operation":
        """Return the operation for a command: this one, or a variant, such as its dry run or another grant."""
        if self.as_dry_run is not None and command.is_dry_run:
            return self.as_dry_run
        if self.with_versions is not None and getattr(command, "versions", False):
            return self.with_versions
        if self.grants:
            return next((row for row in self.by_grant_type.values() if row.command is type(command)), self)
        return self

    @cached_property
    def as_dry_run(self) -> "Operation | None":
        """The operation of a request with ``dry_run=true``, if it has another answer."""
        return self.dry_run and replace(self, use_case=self.dry_run[0], answer=self.dry_run[1], dry_run=None)

    @cached_property
    def with_versions(self) -> "Operation | None":
        """The operation of a request with ``versions=true``, if it lists records (contract E6)."""
        if not issubclass(self.command, SearchedCommand):
            return None
        (record,) = get_args(self.answer)
        return replace(self, answer=GenericAlias(Listing, (VERSIONED[record],))) if record in VERSIONED else None

    @property
    def variants(self) -> Iterator["Operation"]:
        """This operation, and its variants with another answer."""
        yield from (each for each in (self, self.as_dry_run, self.with_versions) if each is not None)

    @cached_property
    def method(self) -> str:
        """The HTTP method, in capitals."""
        return self.route.split(" ")[0]

    @cached_property
    def path(self) -> str:
        """The path, with the command's fields in braces."""
        return self.route.split(" ")[1]

    @cached_property
    def path_fields(self) -> Mapping[str, type]:
        """The fields of the command in the path, with their types: int or str."""
        fields = fields_of(self.command)
        return {name: _plain(fields[name].annotation) for name in PATH_FIELD.findall(self.path)}

    @cached_property
    def not_in_body(self) -> frozenset[str]:
        """The fields of the command that a body must not have, since they are in the path, query or headers."""
        return REQUEST_OPTIONS | frozenset(self.path_fields) | frozenset(self.query_fields)

    @cached_property
    def query_fields(self) -> Mapping[str, type]:
        """The fields of the command in the query, with their types: int, bool or str."""
        in_query = self.method == "GET" or self.takes_jsonl or self.takes_file
        fields = fields_of(self.command).items()
        return {
            str(field.validation_alias or name): _plain(field.annotation)
            for name, field in fields
            if name not in self.path_fields and (in_query or name == DRY_RUN)
        }

    @cached_property
    def repeated(self) -> frozenset[str]:
        """The query fields that may be repeated; they are strings."""
        fields = fields_of(self.command).items()
        return frozenset(name for name, field in fields if get_origin(field.annotation) is tuple) & {*self.query_fields}

    @cached_property
    def takes_body(self) -> bool:
        """Whether requests have a body, with the remaining fields of the command."""
        return (
            self.takes_jsonl
            or self.takes_file
            or (self.method != "GET" and len(fields_of(self.command)) > len(self.path_fields) + len(self.query_fields))
        )

    @cached_property
    def media_types(self) -> tuple[str, ...]:
        """The media types that the body may have."""
        if self.takes_jsonl or self.takes_file:
            return IMPORTED if self.takes_jsonl else PICTURES
        return (JSON, FORM) if self.grants else (JSON,)

    @cached_property
    def max_body(self) -> int:
        """The maximum size of the body, whose fields may have every character escaped (contract A21, I4)."""
        if self.takes_jsonl or self.takes_file:
            return MAX_UPLOAD if self.takes_jsonl else MAX_PICTURE
        long = {"custom_css", "changes", "text", "gallery_targets"}
        return MAX_JSON if long & self.command.model_fields.keys() else SMALL_BODY

    @cached_property
    def most_marks(self) -> int:
        """The maximum number of brackets, colons and commas in the body; more with many changes or targets."""
        return 50 * MOST_MARKS if {"changes", "gallery_targets"} & self.command.model_fields.keys() else MOST_MARKS

    @cached_property
    def is_versioned(self) -> bool:
        """Whether the answer has a version: a record, a list of records, or the verdict on a record's CSS."""
        return (
            (self.streams and self.method == "GET" and self.answer not in (Listing[SignInEvent], Listing[KeptPicture]))
            or self.kind is not None
            or self.answer is Proposal
            or (self.answer is Verdict and self.method == "GET")
        )

    @cached_property
    def is_conditional(self) -> bool:
        """Whether ``If-Match`` is honoured (contract F1)."""
        # A proposal may change between its review and the decision.
        decides = self.answer is Proposal and self.method == "POST" and bool(self.path_fields)
        return self.method in {"PATCH", "PUT", "DELETE"} or decides

    @cached_property
    def is_repeatable(self) -> bool:
        """Whether an ``Idempotency-Key`` is honoured (contract F3)."""
        return self.method == "POST" and self.command.keeps_answer

    @cached_property
    def is_public_read(self) -> bool:
        """Whether anyone may read and cache the response (contract F2)."""
        return self.method == "GET" and self.permission == PUBLIC and not self.command.asks_others

    @property
    def streams(self) -> bool:
        """Whether the answer is a list of any length."""
        return get_origin(self.answer) is Listing

    def renderer(self) -> TypeAdapter[Any]:
        """Return the JSON serializer of the answer; for a streamed list, of a batch of its records."""
        # Creating a serializer takes a millisecond, and several operations share a type.
        return _type_adapter(GenericAlias(tuple, (*get_args(self.answer), ...)) if self.streams else self.answer)


@lru_cache(maxsize=1)
def _services() -> Mapping[str, type[Service]]:
    """Return the service class of each attribute of a gallery."""
    return {
        name: of for name, of in get_type_hints(LogoAdmin).items() if isinstance(of, type) and issubclass(of, Service)
    }


_type_adapter = lru_cache(maxsize=256)(TypeAdapter[Any])  # more than the number of answer types


def _plain(annotation: Any) -> type:
    """Return the base of a constrained or optional type: int, bool or str."""
    if annotation in (int, bool):
        found: type = annotation
        return found
    # Literals and enumerations are strings.
    if isinstance(annotation, str) or (isinstance(annotation, type) and issubclass(annotation, str)):
        return str
    return next(_plain(part) for part in get_args(annotation) if part is not NoneType)


def asked_list(kind: AnyKind) -> str:
    """Return the description of a list of an author's artworks of a kind."""
    return f"Lists the author's {kind.plural} by `{kind.id_field}`, or only those that match the parameters."


def whole_list(kind: AnyKind) -> str:
    """Return the description of a list of all records of a kind."""
    return f"Lists all {kind.plural} by `{kind.id_field}`, or only those that match the parameters."
