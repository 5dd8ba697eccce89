"""The endpoints of the specification and of the contract as data (spec §Endpoints, contract C1, D).

Routes, the OpenAPI document and the test of declared statuses are made from these rows.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from operator import attrgetter
from types import GenericAlias, NoneType
from typing import Any, Final, get_args, get_origin

from pydantic import TypeAdapter

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.access import PUBLIC, Caller, Policy
from logoadmin.domain.model.command import CIRCUMSTANCES, Command, fields_of
from logoadmin.domain.model.kinds import KINDS, AnyKind
from logoadmin.domain.model.lists import Listing
from logoadmin.domain.model.records import (
    Author,
    Change,
    EndedSession,
    Logo,
    LogoAuthor,
    Me,
    NewServiceKey,
    RemovedAuthor,
    RemovedAvatar,
    RemovedLogo,
    RemovedLogoAuthor,
    RemovedRole,
    RemovedServiceKey,
    RemovedTheme,
    RemovedThemeAuthor,
    RemovedUser,
    Role,
    ServiceKey,
    Theme,
    ThemeAuthor,
    Tokens,
    User,
)
from logoadmin.domain.services import artworks, authors, changes, keys, roles, sessions, users

SMALL_BODY: Final = 64 * 1024
_BODY_WITH_CSS: Final = 3_584 * 1024

_IN_PATH = re.compile(r"{(\w+)}")


@dataclass(frozen=True)
class Operation:
    """One row: a method on a path, the command it makes, the call it becomes, and how that may be answered.

    Attributes:
        source: the line of the specification or the contract that asks for it.
        route: the HTTP method and the path, with the command's fields in braces.
        command: what is made of path and body.
        call: the use case, as an attribute of :class:`~logoadmin.domain.logo_admin.LogoAdmin`.
        answer: the type of the answer; ``tuple[X, ...]`` and ``Listing[X]`` are arrays, the latter streamed.
        also: statuses of errors beside those that follow from its form, see :attr:`errors` and :meth:`statuses`.
        refreshes: whether a body with the ``grant_type`` of a refresh makes that command instead.
        form: whether the body may be a form, too (RFC 6749 §4.3).
        bodiless: whether the body may be missing.
    """

    source: str
    route: str
    command: type[Command]
    call: str
    answer: Any
    also: tuple[int, ...] = ()
    refreshes: type[Command] | None = None
    form: bool = False
    bodiless: bool = False

    @property
    def name(self) -> str:
        """The name, unique among all operations: that of its command, as ``create_logo``."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.command.__name__).lower()

    @property
    def tag(self) -> str:
        """What it is listed under: the records that its path begins with, or else its service."""
        of = self.path.split("/")[2]
        return self.call.partition(".")[0] if of == "auth" else of

    @cached_property
    def success(self) -> int:
        """The status of the answer."""
        return 201 if self.command.__name__.startswith("Create") else 200

    @cached_property
    def kind(self) -> AnyKind | None:
        """The kind of record that is answered, if it is one."""
        return next((kind for kind in KINDS.values() if kind.record is self.answer), None)

    @cached_property
    def method(self) -> str:
        """The HTTP method."""
        return self.route.split(" ")[0]

    @cached_property
    def path(self) -> str:
        """The path, with the command's fields in braces."""
        return self.route.split(" ")[1]

    @cached_property
    def path_fields(self) -> tuple[str, ...]:
        """The fields of the command that the path gives."""
        return tuple(_IN_PATH.findall(self.path))

    @cached_property
    def not_in_body(self) -> frozenset[str]:
        """The fields of the command that a body may not name: those that path and headers give."""
        return CIRCUMSTANCES | frozenset(self.path_fields)

    @cached_property
    def query_fields(self) -> Mapping[str, type]:
        """The fields of the command that the query of a GET may give, with what they are: int, bool or str."""
        if self.method != "GET":
            return {}
        fields = fields_of(self.command).items()
        return {name: _plain(field.annotation) for name, field in fields if name not in self.path_fields}

    @cached_property
    def takes_body(self) -> bool:
        """Whether the other fields of the command, if there are any, are in a body."""
        return self.method != "GET" and len(fields_of(self.command)) > len(self.path_fields)

    @cached_property
    def max_body(self) -> int:
        """How many bytes the body may have: what the fields can need, every character escaped (contract A21)."""
        return _BODY_WITH_CSS if "custom_css" in self.command.model_fields else SMALL_BODY

    @cached_property
    def is_versioned(self) -> bool:
        """Whether the answer has a version: a record, or a list of them."""
        return self.streams or self.kind is not None

    @property
    def is_conditional(self) -> bool:
        """Whether ``If-Match`` counts (contract F1)."""
        return self.method in {"PATCH", "PUT", "DELETE"}

    @cached_property
    def is_public_read(self) -> bool:
        """Whether everybody may read it, and keep it for a while (contract F2)."""
        return self.method == "GET" and self.command.permission == PUBLIC

    @property
    def streams(self) -> bool:
        """Whether the answer is a list of any length."""
        return get_origin(self.answer) is Listing

    def renderer(self) -> TypeAdapter[Any]:
        """Return what knows the JSON of the answer; of a list that is streamed, of some of its records."""
        answer: Any = GenericAlias(tuple, (*get_args(self.answer), ...)) if self.streams else self.answer
        return TypeAdapter(answer)

    @cached_property
    def _use_case(self) -> Callable[[LogoAdmin], Callable[[Command, Caller], Any]]:
        return attrgetter(self.call)

    def perform(self, gallery: LogoAdmin, command: Command, caller: Caller) -> Any:
        """Return the answer of the use case."""
        return self._use_case(gallery)(command, caller)

    @cached_property
    def errors(self) -> tuple[int, ...]:
        """The statuses that say what is wrong with what is asked for, in ascending order."""
        followed = {
            # To amend a record so that it is like another one is a bad request; to create such a record is a conflict.
            400: self.method == "PATCH" and self.kind is not None and bool(self.kind.unique),
            404: bool(self.path_fields),
            409: self.success == HTTPStatus.CREATED and self.kind is not None,
        }
        return tuple(sorted({*self.also} | {status for status, follows in followed.items() if follows}))

    def statuses(self, policy: Policy) -> tuple[int, ...]:
        """Return every status that the operation itself may answer under a policy, in ascending order."""
        permission = self.command.permission
        followed = {
            413: self.takes_body,
            415: self.takes_body,
            401: permission != PUBLIC,
            # With a token, nobody goes beyond what they hold, also where none is needed (contract B4).
            403: permission.needs_token(policy) or (permission != PUBLIC and self.method != "GET"),
            304: self.method == "GET" and self.is_versioned,
            412: self.is_conditional,
        }
        own = {status for status, follows in followed.items() if follows}
        return tuple(sorted({self.success, 422, 503, *self.errors} | own))


def _plain(annotation: Any) -> type:
    """Return which of int, bool and str a constrained type, or one that may be None, is made of."""
    if annotation in (int, bool, str):
        found: type = annotation
        return found
    return next(_plain(part) for part in get_args(annotation) if part is not NoneType)


_USER, _ROLE, _AUTHOR, _THEME, _LOGO = (
    "/api/users/{user_id}",
    "/api/roles/{role_id}",
    "/api/authors/{author_id}",
    "/api/themes/{theme_id}",
    "/api/logos/{logo_id}",
)

# fmt: off
OPERATIONS: Final = (
    Operation("contract C1", "POST /api/auth/token", sessions.SignIn, "sessions.grant", Tokens, also=(401, 429),
              refreshes=sessions.Refresh, form=True),

    Operation("contract C3", "POST /api/auth/revoke", sessions.Revoke, "sessions.revoke", EndedSession, also=(403,),
              bodiless=True),
    Operation("contract C3", "GET /api/auth/me", sessions.WhoAmI, "sessions.me", Me),
    Operation("contract C5", "GET /api/auth/keys", keys.ListKeys, "keys.list", tuple[ServiceKey, ...]),
    Operation("contract C5", "POST /api/auth/keys", keys.CreateKey, "keys.create", NewServiceKey),
    Operation("contract C5", "DELETE /api/auth/keys/{key_id}", keys.RemoveKey, "keys.remove", RemovedServiceKey),

    Operation("contract G", "GET /api/changes", changes.ListChanges, "changes.list", Listing[Change]),
    Operation("contract G2", "POST /api/changes/{change_id}/revert", changes.Revert, "changes.revert", Change,
              also=(400, 409)),

    Operation("spec §Endpoints 1", "GET /api/users", users.ListUsers, "users.list", Listing[User]),
    Operation("spec §Endpoints 2", "POST /api/users", users.CreateUser, "users.create", User),
    Operation("spec §Endpoints 3", f"GET {_USER}", users.GetUser, "users.get", User),
    Operation("contract D users", f"PATCH {_USER}", users.AmendUser, "users.amend", User, also=(409,)),
    Operation("contract D users", f"DELETE {_USER}", users.RemoveUser, "users.remove", RemovedUser, also=(409,)),
    Operation("spec §Endpoints 4", f"DELETE {_USER}/avatar", users.RemoveAvatar, "users.remove_avatar", RemovedAvatar),
    Operation("contract D users", f"PUT {_USER}/password", users.SetPassword, "users.set_password", User),

    Operation("contract D roles", "GET /api/roles", roles.ListRoles, "roles.list", Listing[Role]),
    Operation("contract D roles", "POST /api/roles", roles.CreateRole, "roles.create", Role),
    Operation("contract D roles", f"GET {_ROLE}", roles.GetRole, "roles.get", Role),
    Operation("spec §Endpoints 5", f"PATCH {_ROLE}", roles.AmendRole, "roles.amend", Role, also=(409,)),
    Operation("contract D roles", f"DELETE {_ROLE}", roles.RemoveRole, "roles.remove", RemovedRole, also=(409,)),

    Operation("contract D authors", "GET /api/authors", authors.ListAuthors, "authors.list", Listing[Author]),
    Operation("spec §Endpoints 6", "POST /api/authors", authors.CreateAuthor, "authors.create", Author),
    Operation("contract D authors", f"GET {_AUTHOR}", authors.GetAuthor, "authors.get", Author),
    Operation("spec §Endpoints 7", f"PATCH {_AUTHOR}", authors.AmendAuthor, "authors.amend", Author),
    Operation("contract D authors", f"DELETE {_AUTHOR}", authors.RemoveAuthor, "authors.remove", RemovedAuthor),
    Operation("contract D authors", f"GET {_AUTHOR}/logos", artworks.ListAuthorLogos, "logos.of_author", Listing[Logo]),
    Operation("contract D authors", f"GET {_AUTHOR}/themes", artworks.ListAuthorThemes, "themes.of_author",
              Listing[Theme]),

    Operation("contract D themes", "GET /api/themes", artworks.ListThemes, "themes.list", Listing[Theme]),
    Operation("contract D themes", "POST /api/themes", artworks.CreateTheme, "themes.create", Theme),
    Operation("contract D themes", f"GET {_THEME}", artworks.GetTheme, "themes.get", Theme),
    Operation("contract D themes", f"PATCH {_THEME}", artworks.AmendTheme, "themes.amend", Theme),
    Operation("contract D themes", f"DELETE {_THEME}", artworks.RemoveTheme, "themes.remove", RemovedTheme),
    Operation("contract D themes", f"GET {_THEME}/authors", artworks.ListThemeAuthors, "themes.authors",
              Listing[Author]),
    Operation("contract D themes", f"POST {_THEME}/authors", artworks.LinkThemeAuthor, "themes.link", ThemeAuthor,
              also=(409,)),
    Operation("spec §Endpoints 8", f"DELETE {_THEME}/authors", artworks.UnlinkThemeAuthor, "themes.unlink",
              RemovedThemeAuthor),
    Operation("contract D themes", f"DELETE {_THEME}/authors/{{author_id}}", artworks.RemoveThemeAuthor,
              "themes.unlink", RemovedThemeAuthor),

    Operation("contract D logos", "GET /api/logos", artworks.ListLogos, "logos.list", Listing[Logo]),
    Operation("contract D logos", "POST /api/logos", artworks.CreateLogo, "logos.create", Logo),
    Operation("spec §Endpoints 9", f"GET {_LOGO}", artworks.GetLogo, "logos.get", Logo),
    Operation("contract D logos", f"PATCH {_LOGO}", artworks.AmendLogo, "logos.amend", Logo),
    Operation("spec §Endpoints 10", f"DELETE {_LOGO}", artworks.RemoveLogo, "logos.remove", RemovedLogo),
    Operation("spec §Endpoints 11", f"GET {_LOGO}/authors", artworks.ListLogoAuthors, "logos.authors", Listing[Author]),
    Operation("spec §Endpoints 12", f"POST {_LOGO}/authors", artworks.LinkLogoAuthor, "logos.link", LogoAuthor,
              also=(409,)),
    Operation("contract D logos", f"DELETE {_LOGO}/authors", artworks.UnlinkLogoAuthor, "logos.unlink",
              RemovedLogoAuthor),
    Operation("contract D logos", f"DELETE {_LOGO}/authors/{{author_id}}", artworks.RemoveLogoAuthor, "logos.unlink",
              RemovedLogoAuthor),
)
# fmt: on
