"""The stories that every reader must pass with the same observations: see vectors.py."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import rfc8785

from tests.reader.publisher import (
    DAY,
    NOW,
    POINTER,
    STRANGER,
    A,
    Answer,
    B,
    C,
    Files,
    Publication,
    artwork,
    author,
    base64url,
    entry,
    jws,
    sha256,
    withdrawal,
)
from tests.reader.real_gallery import real_story
from tests.reader.vectors import ANY_ERROR, EXPIRED, UNSIGNED, Seen, Step, Story

LOGOS: Final = [artwork("logo", 1, 1), artwork("logo", 2)]
ONE: Final = Publication(1, authors=[author(1)], logos=LOGOS, themes=[artwork("theme", 1, 1)])
TWO: Final = replace(ONE, version=2, issued=NOW + 100, logos=[artwork("logo", 2, name="Second"), artwork("logo", 3)])
THREE: Final = replace(TWO, version=3, issued=NOW + 200, logos=[artwork("logo", 3)])
SEEN_1: Final = Seen(1, [1, 2], [1])
SEEN_2: Final = Seen(2, [2, 3], [1])
SEEN_3: Final = Seen(3, [3], [1])
GONE: Final[Files] = {}
NOT_FOUND: Final = "latest.json: HTTP 404"


def opening(publication: Publication = ONE, seen: Seen = SEEN_1) -> Step:
    return Step(publication.files(), seen, publication.issued, opens=True)


def first(files: Files, error: str) -> list[Step]:
    """Open a gallery that must not be trusted."""
    return [Step(files, Seen(None, error=error), NOW, opens=True)]


def later(files: Files, seen: Seen = SEEN_1, now: int = NOW + 300, **others: Any) -> Step:
    return Step(files, seen, now, **others)


def refused(files: Files, error: str, now: int = NOW + 300) -> Step:
    """Check with a valid state, which is kept."""
    return later(files, replace(SEEN_1, error=error), now)


def restarted(seen: Seen = SEEN_1, now: int = NOW + 290, **others: Any) -> Step:
    """Start the program again, soon, while the server is gone."""
    return Step(GONE, replace(seen, changed=None, error="", withdrawn=[], requests=[]), now, opens=True, **others)


def long_after(now: int) -> Step:
    """Start the program again, when it checks in the background, while the server is gone."""
    return Step(GONE, SEEN_1, now, opens=True, checks=True)


def signed(payload: str, *signatures: dict[str, str]) -> Files:
    return ONE.files(latest=Answer(jws(payload, signatures)))


def published() -> Iterator[Story]:
    yield real_story()


def valid() -> Iterator[Story]:
    unchanged = Seen(1, [1, 2], [1], changed=False, requests=["latest.json?"])
    yield Story("nothing changed", [opening(), later(ONE.files(), unchanged), later(ONE.files(), unchanged)])
    changed = Seen(2, [2, 3], [1], changed=True, requests=["latest.json?", TWO.index_path])
    yield Story("something changed", [opening(), later(TWO.files(), changed), restarted(SEEN_2)])
    renewed = replace(ONE, issued=NOW + 200)
    seen = replace(SEEN_1, changed=False, requests=["latest.json?"])
    yield Story("renewed only", [opening(), later(renewed.files(), seen), long_after(NOW + 30 * DAY + 100)])
    # A picture that is sent after a record named it does not raise the version.
    pictured = replace(ONE, issued=NOW + 200, logos=[artwork("logo", 1)])
    seen = Seen(1, [1], [1], changed=True)
    yield Story("another index of the same version", [opening(), later(pictured.files(), seen)])
    at_once = replace(pictured, issued=ONE.issued)
    yield Story("another index of the same version and time", [opening(), later(at_once.files(), seen)])
    requests = ["latest.json?", ONE.withdrawn_path, ONE.index_path]
    missing = Step(ONE.files(index=None), Seen(None, error="HTTP 404"), NOW)
    again = later(ONE.files(), replace(SEEN_1, requests=requests), opens=True)
    yield Story("opened again after the index was missing", [missing, again])
    yield Story("an empty gallery", [opening(Publication(), Seen(1)), restarted(Seen(1))])
    yield Story("compressed", [Step(ONE.files(index=Answer(ONE.index, encoding="gzip")), SEEN_1, NOW)])
    steps = [opening(), later(TWO.files(), replace(SEEN_2, changed=True))]
    yield Story("nothing can be stored", steps, broken_store=True)
    yield Story("a server that is gone", [opening(), refused(GONE, NOT_FOUND), restarted(), long_after(NOW + 99 * DAY)])


def texts() -> Iterator[Story]:
    """Records with texts that are easily damaged."""
    codes = (*range(1, 32), 34, 39, 47, 60, 92, 127, 128, 160, 0x2028, 0x2029, 0xFEFF, 0xFFFF, 0x1F600)
    special = "".join(map(chr, codes))
    risk = {"risk": "overlay", "line": 1, "column": 2_147_483_647}
    css = {"form": "declarations", "hosts": ["a.example:81"], "risks": [risk], "size": 0}
    logo = artwork("logo", 3, 2, 1, name=f"{special}e\u0301", custom_css="\0\n\t{}</script>", css=css, active=False)
    before = replace(ONE, logos=[*ONE.logos, artwork("logo", 9, name=special)])
    after = replace(before, version=2, issued=NOW + 100, logos=[ONE.logos[0], logo, before.logos[2]])
    after = replace(after, authors=[*ONE.authors, author(2, special)])
    seen = Seen(2, [1, 3, 9], [1], changed=True, requests=["latest.json?", after.index_path])
    yield Story("texts of all kinds", [opening(before, Seen(1, [1, 2, 9], [1])), later(after.files(), seen)])


def takedowns() -> Iterator[Story]:
    blocked = replace(TWO, logos=[ONE.logos[0]], withdrawn=[withdrawal("logo", 2, "malware", NOW + 90)])
    news = [["logo", 2, "blocked"]]
    alone = {POINTER: Answer(blocked.pointer())}
    seen = Seen(2, [1], [1], error="HTTP 404", withdrawn=news)
    whole = Seen(2, [1], [1], changed=True)
    steps = [opening(), later(alone, seen), restarted(whole), later(blocked.files(), whole), restarted(whole)]
    yield Story("blocked without anything else", steps)
    yield Story("blocked", [opening(), later(blocked.files(), replace(whole, withdrawn=news))])
    # A replayed pointer from before does not bring it back.
    replayed = later(ONE.files(), replace(seen, withdrawn=[]))
    yield Story("blocked and replayed", [opening(), later(alone, seen), replayed, restarted(whole)])
    for name, answer in {"wrong": Answer(b"{}"), "endless": Answer(b"{}", endless=True)}.items():
        files = {**alone, **{path: answer for path in blocked.files() if path != POINTER}}
        some = replace(seen, error="too large" if answer.endless else "wrong content")
        yield Story(f"blocked and all else is {name}", [opening(), later(files, some), restarted(whole)])
    removed = replace(TWO, logos=[ONE.logos[0]], withdrawn=[withdrawal("logo", 2, at=NOW + 90)])
    seen = replace(whole, withdrawn=[["logo", 2, "removed"]])
    yield Story("removed", [opening(), later(removed.files(), seen)])
    seen = replace(seen, error="HTTP 404", changed=None)
    missing = later(removed.files(index=None), replace(seen, logos=[1, 2], withdrawn=[]))
    found = later(removed.files(), replace(whole, withdrawn=[["logo", 2, "removed"]]))
    yield Story("removed but no index", [opening(), missing, found])
    off = later(blocked.files(), replace(whole, withdrawn=news))
    on = later(replace(THREE, logos=ONE.logos, withdrawn=[]).files(), Seen(3, [1, 2], [1], changed=True))
    yield Story("blocked and switched on again", [opening(), off, on])
    many = [withdrawal("logo", number, "malware", NOW - number) for number in range(2, 50)]
    forty = replace(TWO, logos=[ONE.logos[0]], withdrawn=many)
    seen = replace(whole, withdrawn=[["logo", number, "blocked"] for number in range(2, 50)])
    yield Story("more blocked than a pointer has", [opening(), later(forty.files(), seen), restarted(whole)])
    expired = {POINTER: Answer(replace(blocked, issued=NOW - 31 * DAY).pointer())}
    seen = Seen(2, [1], [1], error=EXPIRED, withdrawn=news)
    yield Story("blocked by a pointer that expired", [opening(), later(expired, seen), restarted(seen)])
    away = Step(blocked.files(), Seen(2, [1], [1]), NOW + 301, opens=True, checks=True)
    yield Story("blocked while the program was away", [opening(), away, restarted(away.seen)])


def forgeries() -> Iterator[Story]:
    payload = base64url(rfc8785.dumps(ONE.payload()))
    good = A.signature(payload)
    cases: dict[str, Sequence[dict[str, str]]] = {
        "wrong key": [STRANGER.signature(payload)],
        "wrong key under the right kid": [STRANGER.signature(payload, kid=A.kid)],
        "right key under a wrong kid": [A.signature(payload, kid=B.kid)],
        "no kid": [A.signature(payload, kid=None)],
        "alg none": [{**A.signature(payload, alg="none"), "signature": ""}],
        "alg none with a signature": [A.signature(payload, alg="none")],
        "alg EdDSA": [A.signature(payload, alg="EdDSA")],
        "alg HS256": [A.signature(payload, alg="HS256")],
        "a critical extension": [A.signature(payload, crit=["b64"], b64=False)],
        "signature of another payload": [A.signature(base64url(b"{}"))],
        "no signature": [],
        "signature cut off": [{**good, "signature": good["signature"][:-4]}],
        "signature empty": [{**good, "signature": ""}],
        "header not base64": [{**good, "protected": "*"}],
        "header not JSON": [{**good, "protected": base64url(b"{")}],
    }
    for name, signatures in cases.items():
        yield Story(name, first(signed(payload, *signatures), UNSIGNED))
    three = signed(payload, STRANGER.signature(payload), {**good, "protected": "*"}, good)
    yield Story("one good signature of three", [Step(three, SEEN_1, NOW)])
    two = signed(payload, {**good, "signature": base64url(bytes(64))}, B.signature(payload))
    yield Story("one bad signature by a trusted key", [Step(two, SEEN_1, NOW)], keys=[A, B])
    changed = base64url(rfc8785.dumps(TWO.payload()))
    yield Story("payload changed", first(signed(changed, good), UNSIGNED))
    for name, payloads in {"unsigned": (payload, changed), "signed": (changed, payload)}.items():
        head = '{{"payload":"{}","payload":"{}","signatures":['.format(*payloads)
        twice = ONE.files(latest=Answer(head.encode() + rfc8785.dumps(good) + b"]}"))
        steps = [Step(twice, SEEN_1, NOW)] if name == "signed" else first(twice, UNSIGNED)
        yield Story(f"two payloads the last {name}", steps)


def old_and_foreign() -> Iterator[Story]:
    replayed = later(ONE.files(), replace(SEEN_2, changed=False))
    yield Story("replayed", [opening(TWO, SEEN_2), replayed, restarted(SEEN_2)])
    yield Story("expired at first", first(replace(ONE, issued=NOW - 30 * DAY).files(), EXPIRED))
    seen = Seen(2, [1, 2], [1], error=EXPIRED)
    yield Story("expired news", [opening(), later(replace(TWO, days=0).files(), seen), restarted(seen)])
    ahead = "latest.json: issued in the future"
    in_a_day = later(replace(TWO, issued=NOW + DAY + 300).files(), replace(SEEN_2, changed=True))
    yield Story("issued in a day", [opening(), in_a_day])
    yield Story("issued in more than a day", [opening(), refused(replace(TWO, issued=NOW + DAY + 301).files(), ahead)])
    yield Story("issued in more than a day at first", first(replace(ONE, issued=NOW + DAY + 1).files(), ahead))
    block = withdrawal("logo", 1, "malware")
    early = replace(TWO, issued=NOW + DAY + 301, withdrawn=[block]).files()
    seen = Seen(1, [2], [1], error=ahead, withdrawn=[["logo", 1, "blocked"]])
    twice = [later(early, seen), later(early, replace(seen, withdrawn=[])), restarted(seen)]
    good = later(TWO.files(), replace(SEEN_2, changed=True))
    older = replace(ONE, issued=NOW + 3 * DAY, withdrawn=[withdrawal("logo", 2, "old")])
    last = later(older.files(), replace(SEEN_2, error=ahead))
    yield Story("blocks of one that was issued in more than a day", [opening(), *twice, good, last])
    frozen = later(ONE.files(), replace(SEEN_1, error=EXPIRED, requests=["latest.json"]), NOW + 31 * DAY)
    yield Story("frozen until it expired", [opening(), frozen, long_after(NOW + 31 * DAY)])
    unchanged = replace(SEEN_1, changed=False)
    older = replace(ONE, logos=[])
    steps = [opening(replace(ONE, issued=NOW + 50)), later(older.files(), unchanged)]
    yield Story("an older one of the same version", steps)
    restored = later(replace(ONE, epoch=5, issued=NOW + 200).files(), replace(SEEN_1, changed=True))
    before = later(THREE.files(), unchanged)
    yield Story("restored from a backup", [opening(THREE, SEEN_3), restored, before, restarted()])
    other = refused(replace(TWO, gallery="other").files(), "of another gallery")
    yield Story("another gallery with the same key", [opening(), other])


def rotations() -> Iterator[Story]:
    both = replace(TWO, keys=[B, A], next_keys=[B])
    only_b = replace(THREE, keys=[B])
    two, three = replace(SEEN_2, changed=True), replace(SEEN_3, changed=True)
    yield Story("key rotated", [opening(), later(both.files(), two), later(only_b.files(), three), restarted(three)])
    by_b = replace(TWO, keys=[B]).files()
    yield Story("announced key", [opening(replace(ONE, next_keys=[B])), later(by_b, two), restarted(two)])
    once = later(replace(both, next_keys=[]).files(), two)
    yield Story("key rotated once while away", [opening(), once, restarted(two)])
    yield Story("key rotated twice while away at once", [opening(), later(replace(TWO, keys=[C, B, A]).files(), two)])
    unknown = replace(TWO, keys=[C, B], next_keys=[C]).files()
    known = Step(unknown, SEEN_2, NOW + 500, opens=True, keys=[C])
    steps = [opening(), refused(unknown, UNSIGNED), restarted(), known]
    yield Story("key rotated twice while away and the first retired", steps)
    kept = replace(SEEN_2, version=3)
    retired = later(replace(only_b, logos=TWO.logos).files(), replace(kept, changed=False))
    stolen = later(replace(THREE, version=9).files(), replace(kept, error=UNSIGNED))
    steps = [opening(), later(both.files(), two), retired, stolen, restarted(kept)]
    yield Story("a retired key after its retirement", steps)
    yield Story("opened with another key", [opening(), Step(by_b, SEEN_2, NOW + 200, opens=True, keys=[B])])
    yield Story("several keys", [opening()], keys=[B, A])


def spoiled_files() -> Iterator[Story]:
    index = ONE.index
    wrong = "wrong content"
    broken = {
        "index truncated": (Answer(index[:-10]), wrong),
        "index empty": (Answer(b""), wrong),
        "index swapped": (Answer(index.replace(b"logo 1", b"logo 9")), wrong),
        "index endless": (Answer(index, endless=True), "too large"),
        "index too large by one": (Answer(index + b" "), "too large"),
        "index a gzip bomb": (Answer(bytes(50_000_000), encoding="gzip"), "too large"),
        "index missing": (None, "HTTP 404"),
        "index an error page": (Answer(b"<p>busy", 503), "HTTP 503"),
        "index slow": (Answer(index, slow=True), ANY_ERROR),
        "index not as compressed as it claims": (Answer(index, claims="gzip"), ANY_ERROR),
    }
    yield Story("pointer unchanged at first", first(ONE.files(latest=Answer(b"", 304)), "latest.json: HTTP 304"))
    for name, (answer, error) in broken.items():
        yield Story(name, [Step(ONE.files(index=answer), Seen(None, error=error), NOW)])
    pointers = {
        "pointer truncated": (Answer(ONE.pointer()[:-30]), ANY_ERROR),
        "pointer empty": (Answer(b""), ANY_ERROR),
        "pointer a page": (Answer(b"<!doctype html>"), ANY_ERROR),
        "pointer endless": (Answer(b"", endless=True), "too large"),
        "pointer too large": (Answer(ONE.pointer() + b" " * 8192), "too large"),
        "pointer not as compressed as it claims": (Answer(TWO.pointer(), claims="gzip"), ANY_ERROR),
        "pointer slow": (Answer(TWO.pointer(), slow=True), ANY_ERROR),
        "pointer whose head drips": (Answer(TWO.pointer(), drips="head"), ANY_ERROR),
        "pointer whose body drips": (Answer(TWO.pointer(), drips="body"), ANY_ERROR),
        "pointer not UTF-8": (Answer(b"\xff\xfe"), ANY_ERROR),
        "pointer nested": (Answer(b"[" * 8000), ANY_ERROR),
        "pointer null": (Answer(b"null"), ANY_ERROR),
        "pointer an array": (Answer(b"[]"), ANY_ERROR),
        "pointer without signatures": (Answer(b'{"payload":"e30"}'), ANY_ERROR),
        "pointer redirected to no host": (Answer(b"", 302, location="http://a..b/"), ANY_ERROR),
    }
    for name, (answer, error) in pointers.items():
        yield Story(name, [opening(), refused(ONE.files(latest=answer), error), restarted()])
    tagged = Step(ONE.files(latest=Answer(ONE.pointer(), tag='"\xe9"')), SEEN_1, NOW)
    yield Story("a tag beyond ASCII", [tagged, later(TWO.files(), replace(SEEN_2, changed=True))])
    other = THREE.files(index=Answer(ONE.index))
    seen = Seen(3, [1, 2], [1], error=ANY_ERROR)
    yield Story("swapped for the index of another version", [opening(), later(other, seen)])


def bad_payloads() -> Iterator[Story]:
    paths = [
        *("../1-0000000000000000.json", "/1-0000000000000000.json", "https://evil.example/1-0000000000000000.json"),
        "//evil.example/1-0000000000000000.json",
        *("css/../1-0000000000000000.json", "1-0000000000000000.json\n", "1-0000000000000000.json?x", "latest.json"),
        *("..%2f1-0000000000000000.json", "\\1-0000000000000000.json", ""),
    ]
    for number, path in enumerate(paths):
        named = replace(ONE, members={"index": entry(path, ONE.index)})
        yield Story(f"path {number}", first(named.files(), "latest.json: unexpected path"))
    for name in ("epoch", "version", "issued", "expires"):
        for kind, value in {"a text": "9", "missing": None, "a half": 1.5, "much": 2.0**60, "more": 1e300}.items():
            wrong = replace(ONE, members={name: value})
            yield Story(f"{name} is {kind}", first(wrong.files(), ANY_ERROR))
    payload = base64url(rfc8785.dumps(ONE.payload()).replace(b'"version":1,', b'"version":1.0,'))
    yield Story("version is 1.0", [Step(signed(payload, A.signature(payload)), SEEN_1, NOW)])
    for size in (0, len(ONE.index) - 1, -1, None, "9"):
        wrong = replace(ONE, members={"index": entry(ONE.index_path, ONE.index) | {"size": size}})
        yield Story(f"index of size {size}", first(wrong.files(), ANY_ERROR))
    wrong = replace(ONE, members={"index": entry(ONE.index_path, ONE.index) | {"size": len(ONE.index) + 1}})
    yield Story("index of size one more", first(wrong.files(), "wrong size"))
    yield Story("no index", first(replace(ONE, members={"index": None}).files(), ANY_ERROR))
    content = b'{"authors":[],"logos":[]}'
    path = f"1-{sha256(content)[:16]}.json"
    files = {**replace(ONE, members={"index": entry(path, content)}).files(), path: Answer(content)}
    yield Story("index without themes", first(files, ANY_ERROR))


def stores() -> Iterator[Story]:
    seen = replace(SEEN_1, requests=["latest.json", ONE.withdrawn_path, ONE.index_path])
    for how in ("rubbish", "truncated", "altered", "missing"):
        fresh = Step(ONE.files(), seen, NOW + 100, opens=True, spoil=how)
        yield Story(f"stored state {how}", [opening(), fresh, restarted()])


_BASIC: Final = (published, valid, texts, takedowns, forgeries, old_and_foreign, rotations)
_DAMAGED: Final = (spoiled_files, bad_payloads, stores)
STORIES: Final = tuple(story for group in (*_BASIC, *_DAMAGED) for story in group())
