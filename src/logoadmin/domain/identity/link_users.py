"""Users who sign in by links of the host site, and by nothing else (contract R5)."""

from logoadmin.domain.kernel.access import Held, Rights
from logoadmin.domain.kernel.errors import SignsInByLink
from logoadmin.domain.kernel.unit_of_work import AnyUnitOfWork, identity_in


def other_way_in(uow: AnyUnitOfWork, user_id: int) -> str | None:
    """Return what a user has to sign in with besides links, which would be a way around it; None for nothing."""
    identity = identity_in(uow)
    if identity.passwords.get(user_id) is not None:
        return "a password"
    if identity.factors.of_user(user_id):
        return "a second factor"
    return "an identity of the issuer" if identity.identities.of_user(user_id) else None


def is_by_link(uow: AnyUnitOfWork, held: Rights) -> bool:
    """Return whether a session began with a link, by which alone its user can sign in (contract R5)."""
    return held.factor == "link" and other_way_in(uow, held.user_id) is None


def require_not_by_link(uow: AnyUnitOfWork, held: Held) -> None:
    """Reject a session in which a user would lock themselves out of their links, unless they must enrol a factor.

    Raises:
        SignsInByLink: they would.
    """
    if isinstance(held, Rights) and not held.must_enrol and is_by_link(uow, held):
        raise SignsInByLink
