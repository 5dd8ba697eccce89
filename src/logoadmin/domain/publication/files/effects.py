"""What CSS does to the page that applies it, as sentences that readers know by name (contract L4, Q1)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

Tone = Literal["good", "note", "bad"]
# A risk that takes nothing from anybody.
_HARMLESS: Final = "animation"


@dataclass(frozen=True, slots=True)
class Effect:
    """One sentence.

    Attributes:
        tone: whether it is good news, worth knowing, or a reason to think twice.
        name: the name of the sentence.
        of: the host or URL in it; empty for none.
    """

    tone: Tone
    name: str
    of: str = ""


def effects_of(verdict: Mapping[str, Any], own: str) -> tuple[Effect, ...]:
    """Return what CSS does, by its verdict in the index.

    Args:
        verdict: as in the index.
        own: the host of the gallery, which learns nothing new; empty if that is not known.
    """
    return tuple(_effects(verdict, own))


def _effects(verdict: Mapping[str, Any], own: str) -> Iterator[Effect]:
    hosts = [host for host in verdict.get("hosts", ()) if host != own]
    risks = dict.fromkeys(each["risk"] for each in verdict.get("risks", ()))
    if not hosts:
        yield Effect("good", "contacts_nobody")
    yield from (Effect("note", "contacts", host) for host in hosts)
    yield from (Effect("bad", "unpinned", each["url"]) for each in verdict.get("imports", ()))
    yield from (Effect("note" if risk == _HARMLESS else "bad", risk) for risk in risks)
    if not risks.keys() - {_HARMLESS}:
        yield Effect("good", "no_risks")
