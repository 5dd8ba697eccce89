"""Roles (spec §Endpoints 5, contract A6 to A11, D)."""

import pytest

from logoadmin.domain.identity.roles import CreateRole, GetRole, RemoveRole
from logoadmin.domain.identity.users import AmendUser
from logoadmin.domain.kernel.errors import Conflict, NotFound
from logoadmin.domain.kernel.records import RemovedRole, Role
from logoadmin.domain.logo_admin import LogoAdmin
from tests.gallery import NOW


def create(gallery: LogoAdmin, name: str, *scope: str) -> Role:
    return gallery.roles.create(CreateRole(name=name, scope=scope))


@pytest.mark.rule("spec §Resources", "contract D roles", "contract A10", "contract A11")
def test_a_new_role_gets_the_next_id(gallery: LogoAdmin) -> None:
    assert create(gallery, "painter", "b", "a", "b") == Role(3, "painter", ("b", "a"), NOW)
    assert create(gallery, "guest") == Role(4, "guest", (), NOW)


@pytest.mark.rule("contract D roles")
def test_an_assigned_role_cannot_be_removed(stocked: LogoAdmin) -> None:
    stocked.users.amend(AmendUser(user_id=7, role_id=3))
    with pytest.raises(Conflict, match=r"^Role 3 is the role of a user$"):
        stocked.roles.remove(RemoveRole(role_id=3))
    stocked.users.amend(AmendUser(user_id=7, role_id=1))
    assert stocked.roles.remove(RemoveRole(role_id=3)) == RemovedRole(3)
    with pytest.raises(NotFound):
        stocked.roles.get(GetRole(role_id=3))
