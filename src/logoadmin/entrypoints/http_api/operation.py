"""What is said of one endpoint, and what follows from it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from http import HTTPStatus
from operator import attrgetter
from types import GenericAlias, NoneType
from typing import Any, Final, get_args, get_origin

from pydantic import TypeAdapter

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.access import PUBLIC, Caller, Policy
from logoadmin.domain.model.command import MAX_JSON, REQUEST_OPTIONS, Command, fields_of
from logoadmin.domain.model.kinds import KINDS, AnyKind
from logoadmin.domain.model.lists import Listing
from logoadmin.domain.model.sessions import NewServiceKey, Tokens

SMALL_BODY: Final = 64 * 1024
MAX_UPLOAD: Final = 64 * 1024 * 1024

# A field in the template of a path; its name is the group.
PATH_FIELD: Final = re.compile(r"{(\w+)}")


@dataclass(frozen=True)
class Operation:
    """One row: a method on a path, the command it makes, the call it becomes, and how that may be answered.

    Attributes:
        source: the line of the specification or the contract that asks for it.
        route: the HTTP method and the path, with the command's fields in braces.
        command: what is made of path and body.
        call: the use case, as an attribute of :class:`~logoadmin.domain.logo_admin.LogoAdmin`.
        answer: the type of the answer; ``tuple[X, ...]`` and ``Listing[X]`` are arrays, the latter streamed.
        summary: what it does, in a few words of its own, for people who know neither this program nor its source.
        description: the rest that they should know, in Markdown.
        success: the status of the answer, 201 where it creates a record.
        also: statuses of errors beside those that follow from its form, see :attr:`errors` and :meth:`statuses`.
        refreshes: whether a body with the ``grant_type`` of a refresh makes that command instead.
        form: whether the body may be a form, too (RFC 6749 §4.3).
        bodiless: whether the body may be missing.
        takes_jsonl: whether the body is JSON Lines, and the fields of the command are in the query.
        attachment: the name of the file that the answer is, of JSON Lines; none where it is JSON.
    """

    source: str
    route: str
    command: type[Command]
    call: str
    answer: Any
    summary: str
    description: str
    success: int = 200
    also: tuple[int, ...] = ()
    refreshes: type[Command] | None = None
    form: bool = False
    bodiless: bool = False
    takes_jsonl: bool = False
    attachment: str = ""

    @cached_property
    def name(self) -> str:
        """The name, unique among all operations: that of its command, as ``create_logo``."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.command.__name__).lower()

    @property
    def tag(self) -> str:
        """What it is listed under: the records that its path begins with, or else its service."""
        of = self.path.split("/")[2]
        return self.call.partition(".")[0] if of == "auth" else of

    @cached_property
    def holds_secret(self) -> bool:
        """Whether a token or a key is in the answer, whose length must tell nothing of it (contract K8)."""
        return self.answer in (Tokens, NewServiceKey)

    @cached_property
    def kind(self) -> AnyKind | None:
        """The kind of record that is answered, if it is one."""
        return next((kind for kind in KINDS.values() if kind.record is self.answer), None)

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
        """The fields of the command that the path gives, with what they are: int or str."""
        fields = fields_of(self.command)
        return {name: _plain(fields[name].annotation) for name in PATH_FIELD.findall(self.path)}

    @cached_property
    def not_in_body(self) -> frozenset[str]:
        """The fields of the command that a body may not name: those that path and headers give."""
        return REQUEST_OPTIONS | frozenset(self.path_fields)

    @cached_property
    def query_fields(self) -> Mapping[str, type]:
        """The fields of the command that the query may give, with what they are: int, bool or str."""
        if self.method != "GET" and not self.takes_jsonl:
            return {}
        fields = fields_of(self.command).items()
        return {name: _plain(field.annotation) for name, field in fields if name not in self.path_fields}

    @cached_property
    def repeated(self) -> frozenset[str]:
        """The fields of the query that may be given more than once; they are texts."""
        fields = fields_of(self.command).items()
        return frozenset(name for name, field in fields if get_origin(field.annotation) is tuple) & {*self.query_fields}

    @cached_property
    def takes_body(self) -> bool:
        """Whether the other fields of the command, if there are any, are in a body."""
        return self.takes_jsonl or (self.method != "GET" and len(fields_of(self.command)) > len(self.path_fields))

    @cached_property
    def max_body(self) -> int:
        """How many bytes the body may have: what the fields can need, every character escaped (contract A21, I4)."""
        if self.takes_jsonl:
            return MAX_UPLOAD
        return MAX_JSON if "custom_css" in self.command.model_fields else SMALL_BODY

    @cached_property
    def is_versioned(self) -> bool:
        """Whether the answer has a version: a record, or a list of them."""
        return (self.streams and self.method == "GET") or self.kind is not None

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
        return _renderer(GenericAlias(tuple, (*get_args(self.answer), ...)) if self.streams else self.answer)

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


@lru_cache(maxsize=64)
def _renderer(answer: Any) -> TypeAdapter[Any]:
    # Making one takes a millisecond, and several operations answer the same type.
    return TypeAdapter(answer)


def _plain(annotation: Any) -> type:
    """Return which of int, bool and str a constrained type, or one that may be None, is made of."""
    if annotation in (int, bool):
        found: type = annotation
        return found
    # One of some words, and a name of an enumeration, are texts, too.
    if isinstance(annotation, str) or (isinstance(annotation, type) and issubclass(annotation, str)):
        return str
    return next(_plain(part) for part in get_args(annotation) if part is not NoneType)
