"""No secret is stored, except hashed or encrypted, listed, logged, or in the history (contract C1, C3 to C5, G, O)."""

import pytest

from logoadmin import Anonymous, CreateKey, CreateLink, CreateSignInCode, CreateUser, ListKeys, LogoAdmin, SetPassword
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.identity.sessions import ListSessions, SignIn
from logoadmin.domain.kernel.errors import InvalidToken, SignInRefused
from logoadmin.domain.kernel.limits import MAX_ID
from tests.domain.identity.second_factors import challenged, enrolled, second_step
from tests.domain.identity.sign_ins import ADMIN, ANN, caller, refresh
from tests.gallery import ANN_PASSWORD, FrozenClock, exported, failure, history, once


@pytest.mark.rule("contract C1", "contract C3", "contract C4", "contract C5", "contract F3", "contract G")
@pytest.mark.rule("contract O1", "contract O6", "contract O9", "contract R5")
def test_no_secret_can_be_read(stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    """ASVS 6.5.2."""
    lasting = refresh(stocked, stocked.sessions.sign_in(ADMIN))
    admin = caller(stocked, lasting)
    ann, totp, codes = enrolled(stocked)
    tokens = second_step(stocked, challenged(stocked), recovery_code=codes[0])
    renewed = refresh(stocked, tokens)
    key = stocked.keys.create(once(CreateKey(name="script", scope=()), "a key"), ann)
    code = stocked.sign_in_codes.create(once(CreateSignInCode(user_id=7), "another"), admin)
    link = stocked.links.create(CreateLink(user_id=1042, username="Mia"), admin)
    stocked.users.set_password(SetPassword(user_id=7, password="a new one", current_password=ANN_PASSWORD), ann)
    stocked.users.create(once(CreateUser(user_id=8, username="ben", password="ben's own"), "a third"))
    for command in (SignIn(username="a typed secret", password="a wrong one"), ANN):
        assert failure(stocked.sessions.sign_in, command, Anonymous("192.0.2.77")) is SignInRefused
    clock.pass_by(11)
    assert failure(refresh, stocked, tokens) is InvalidToken

    secrets = [ANN_PASSWORD, "a new one", "ben's own", "a wrong one", "a typed secret", key.key, code.code, link.link]
    secrets += [totp.secret, *codes, *(each.replace("-", "") for each in (code.code, *codes))]
    secrets += [each for pair in (tokens, renewed, lasting) for each in (pair.access_token, pair.refresh_token)]
    tables = vars(vars(storage)["_tables"])
    (factor,) = storage.read(lambda uow: uow.identity.factors.of_user(7))
    shown = repr((tokens, renewed, lasting, key, code, link, totp, ann))
    shown += repr((stocked.keys.list(ListKeys(), ann), stocked.sessions.list(ListSessions(), ann), exported(stocked)))
    for text in (repr((tables, factor.secret)), shown):
        assert [secret for secret in secrets if secret in text] == []
    # Of sign-ins that were refused, neither the name nor the address can be read in the limits, nor a hash in the rest.
    assert "192.0.2.77" not in repr(tables["counts"])
    events = storage.read(lambda uow: uow.identity.events.page(MAX_ID, 99))
    for text in ("$argon2", "hash", ann.session_id):
        assert text not in repr((events, history(stocked)))
