"""What a change would do, before it is made (contract J7)."""

from dataclasses import dataclass
from typing import Annotated, Final

from logoadmin.domain.kernel.limits import UserId, Username, described
from logoadmin.domain.kernel.records import Role

_PAINTER: Final = {"role_id": 3, "name": "painter", "scope": ["logos:write"], "created_at": 1767225600}
_PAINTER_ANN: Final = {"user_id": 1042, "username": "Ann", "gains": ["logos:write"], "loses": ["themes:write"]}


@dataclass(frozen=True, slots=True)
class AffectedUser:
    """A user whose rights a change of their role would change (contract J7)."""

    user_id: UserId
    username: Username
    gains: Annotated[tuple[str, ...], described("The scopes that the user would gain.", ["logos:write"])]
    loses: Annotated[tuple[str, ...], described("The scopes that the user would lose.", ["themes:write"])]


@dataclass(frozen=True, slots=True)
class RoleEffect:
    """The role as a change of it would leave it, and the users who would gain or lose rights (contract J7)."""

    role: Annotated[Role, described("The role as it would be.", _PAINTER)]
    users: Annotated[tuple[AffectedUser, ...], described("The users who would gain or lose rights.", [_PAINTER_ANN])]
