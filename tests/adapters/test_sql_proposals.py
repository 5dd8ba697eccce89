"""How databases find proposals: a page with few statements, however many people submitted them."""

import pytest

from logoadmin.adapters.sql_storage import SqlStorage
from logoadmin.domain.changes.proposal_commands import ListProposals
from tests.adapters.test_sql_searches import sent_statements
from tests.contracts.changes.test_proposals import NEW_LOGO, WAITING, propose
from tests.gallery import FrozenClock, gallery_on, signed_in


@pytest.mark.rule("contract R1", "contract E2")
def test_a_queue_of_many_submitters_takes_five_statements(sql_storage: SqlStorage) -> None:
    gallery = gallery_on(sql_storage, FrozenClock())
    for user_id in range(501, 521):
        propose(gallery, signed_in(sql_storage, "proposals:write", user_id=user_id), NEW_LOGO)
    with sent_statements() as statements:
        listed = list(gallery.proposals.list(ListProposals(state=WAITING, limit=100)))
    assert len(listed) == 20
    assert len(statements) == 5, statements
