"""Pictures of every view and of what views become, to be looked at: ``make views`` takes all of them."""

import re
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser

from tests.console.driver import APPEARANCES, VIEWS, looking
from tests.console.service import Served
from tests.console.states import STATES
from tests.options import OPTIONS

pytestmark = pytest.mark.slow("a browser")

FOLDER: Final = OPTIONS.get("LOGOADMIN_TEST_PICTURES")
# A few show that pictures can be made; who looks at them wants all.
VIEWS_SHOWN: Final = VIEWS if FOLDER else ("", "logos")
STATES_SHOWN: Final = STATES if FOLDER else STATES[-1:]
SHOWN: Final = APPEARANCES if FOLDER else (APPEARANCES[0], APPEARANCES[-1])


@pytest.mark.rule("contract J3")
def test_pictures_of_every_view_can_be_looked_at(chromium: Browser, service: Served, tmp_path: Path) -> None:
    folder = Path(FOLDER) if FOLDER else tmp_path
    folder.mkdir(parents=True, exist_ok=True)
    with looking(chromium, service, reduced_motion="reduce") as person:
        person.open()
        for shown in ("sign-in", *VIEWS_SHOWN, *STATES_SHOWN):
            person.see(APPEARANCES[0])
            if not isinstance(shown, str):
                shown(person)
            elif shown != "sign-in":
                person.open(shown)
            named = (
                re.sub(r"\W", "-", shown or "overview") if isinstance(shown, str) else shown.__name__.replace("_", "-")
            )
            for appearance in SHOWN:
                person.see(appearance)
                person.settle()
                person.picture(f"{named}-{appearance.width}-{appearance.scheme}-{appearance.language}", folder)
            if shown == "sign-in":
                person.sign_in()
    assert len(list(folder.glob("*.png"))) >= len(SHOWN) * (1 + len(VIEWS_SHOWN) + len(STATES_SHOWN))
    assert service.external_hosts.pictures
