"""``logoadmin publish`` and ``logoadmin gallery-key``."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import logoadmin
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.publication.files.pointer import Pointer, parsed
from logoadmin.domain.publication.shared_settings import AmendSettings
from logoadmin.settings import settings_of
from logoadmin.starting import folder
from tests.answering import serving
from tests.entrypoints.conftest import Run, assert_one_line
from tests.gallery import ARTWORK

pytestmark = [pytest.mark.usefixtures("initialised"), pytest.mark.rule("contract L1")]

FOLDER: Final = Path("gallery")


def create_logo(**values: Any) -> int:
    with logoadmin.connect("sqlite:///logoadmin.db") as gallery:
        return gallery.logos.create(logoadmin.CreateLogo(**ARTWORK | values)).logo_id


def pointer() -> Pointer:
    return parsed((FOLDER / "latest.json").read_bytes())


def contents() -> dict[str, bytes]:
    return {path.as_posix(): path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()}


def test_the_exit_code_reports_whether_the_gallery_changed(run: Run) -> None:
    create_logo()
    first = run("publish", "gallery")
    assert (first.code, first.err, first.out) == (0, "", f"Published version {pointer().version} in gallery\n")
    before = contents()
    again = run("publish", "gallery")
    assert (again.code, again.err) == (3, "")
    assert again.out == f"Nothing has changed since version {pointer().version} in gallery\n"
    assert contents() == before
    create_logo(name="Dusk")
    assert run("publish", "gallery").code == 0


@pytest.mark.slow("a process is started and stopped")
def test_watching_publishes_each_change_and_names_each_omitted_work_once() -> None:
    arguments = (sys.executable, "-m", "logoadmin", "publish", "gallery", "--watch")
    create_logo(custom_css="a {")
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            for logo_id in (1, 2):
                assert process.stdout.readline().startswith(f"Left out: logo {logo_id} (Aurora): ")
                assert process.stdout.readline() == f"Published version {pointer().version} in gallery\n"
                create_logo(custom_css="a {")
        finally:
            process.terminate()
            process.wait(60)
    assert process.returncode == 0


@pytest.fixture
def copy() -> Iterator[str]:
    """The URL of the folder on a web server."""
    with serving(FOLDER) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.mark.server("a web server in a thread")
@pytest.mark.rule("contract Q2", "contract Q3")
@pytest.mark.parametrize("name", ["index.html", "page.js", "reader.js", "logos/1.user.css"])
def test_the_page_and_the_user_styles_of_a_copy_are_compared(run: Run, copy: str, name: str) -> None:
    targets: Any = {"forum": {"name": "Forum", "documents": ['domain("forum.example")'], "logo": ".logo"}}
    create_logo(custom_css="color: red")
    with logoadmin.connect("sqlite:///logoadmin.db") as gallery:
        gallery.settings.amend(AmendSettings(gallery_targets=targets))
    assert run("publish", "gallery", "--verify", copy).code == 0
    shutil.copytree(FOLDER, "elsewhere")
    (FOLDER / name).write_bytes((FOLDER / name).read_bytes() + b" ")
    longer = run("publish", "elsewhere", "--verify", copy)
    assert (longer.code, f"differs: {name}: too large; upload all" in longer.err) == (1, True)
    (FOLDER / name).write_bytes(b"x")
    changed = run("publish", "elsewhere", "--verify", copy)
    assert (changed.code, f"has another file {name}; upload all" in changed.err) == (1, True)
    (FOLDER / name).unlink()
    missing = run("publish", "elsewhere", "--verify", copy)
    assert (missing.code, f"differs: {name}: HTTP 404; upload all" in missing.err) == (1, True)


@pytest.mark.server("a web server in a thread")
def test_a_copy_is_verified_like_in_readers(run: Run, copy: str) -> None:
    create_logo()
    verified = run("publish", "gallery", "--verify", copy)
    assert (verified.code, verified.err) == (0, "")
    assert verified.out.endswith(f"The copy at {copy} is complete\n")
    assert run("publish", "gallery", "--verify", copy).code == 3
    create_logo(name="Dusk")
    old = (FOLDER / "latest.json").read_bytes()
    run("publish", "gallery")
    (FOLDER / "latest.json").rename("new.json")
    (FOLDER / "latest.json").write_bytes(old)
    shutil.copytree(FOLDER, "elsewhere")
    Path("new.json").rename("elsewhere/latest.json")
    stale = run("publish", "elsewhere", "--verify", copy)
    assert stale.code == 1
    assert "and version" in stale.err
    assert "latest.json last" in stale.err
    for name, content in contents().items():
        if name.endswith(".json"):
            Path(name).write_bytes(content[:-1] + b" ")
    broken = run("publish", "elsewhere", "--verify", copy)
    assert broken.code == 1
    assert f"Readers do not accept the copy at {copy}: " in broken.err


@pytest.mark.server("a web server in a thread")
def test_what_the_service_itself_serves_can_be_verified(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    create_logo()
    with serving(Path()) as port:
        monkeypatch.setenv("LOGOADMIN_PORT", str(port))
        with open_gallery(settings_of(database="sqlite:///logoadmin.db", port=port)) as service:
            service.publication.publish(folder(FOLDER))
        verified = run("publish", "elsewhere", "--verify", f"http://localhost:{port}/gallery/")
        assert (verified.code, verified.err) == (0, "")
        assert run("publish", "elsewhere", "--verify", f"http://localhost:{port}/other/").code == 1


@pytest.mark.server("a web server in a thread")
def test_a_copy_with_another_index_of_a_version_is_named(run: Run, copy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    css = "@import url(https://styles.example/a.css);"
    with logoadmin.connect("sqlite:///logoadmin.db") as gallery:
        gallery.themes.create(
            logoadmin.CreateTheme(
                name="t", preview_url="https://x.example/t.png", target="forum", custom_css=css, active=True
            )
        )
    assert run("publish", "gallery").code == 0
    monkeypatch.setenv("LOGOADMIN_PUBLISH_IMPORTS", "true")
    other = run("publish", "elsewhere", "--verify", copy)
    assert other.code == 1
    assert f"The copy at {copy} has another index of version {pointer().version}; upload all" in other.err


@pytest.mark.rule("contract L7")
def test_keys_are_shown_and_rotated(run: Run) -> None:
    shown = run("gallery-key", "show")
    assert (shown.code, shown.err) == (0, "")
    (old,) = map(json.loads, shown.out.splitlines())
    assert old.keys() == {"kty", "crv", "x", "kid"}
    rotated = run("gallery-key", "rotate")
    assert (rotated.code, rotated.err) == (0, "Publish the gallery now, so that readers learn the new key.\n")
    new, second = map(json.loads, rotated.out.splitlines())
    assert second == old
    assert new != old
    assert run("gallery-key", "show").out == rotated.out
    run("publish", "gallery")
    assert len(json.loads((FOLDER / "latest.json").read_bytes())["signatures"]) == 2
    assert pointer().next_keys == [{name: new[name] for name in ("crv", "kty", "x")}]


@pytest.mark.rule("contract L7")
def test_keys_can_be_in_a_file(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (stored,) = run("gallery-key", "show").out.splitlines()
    pems = [pem(), pem()]
    Path("keys.pem").write_bytes(pems[0])
    monkeypatch.setenv("LOGOADMIN_GALLERY_KEY_FILE", "keys.pem")
    first, last = run("gallery-key", "show").out.splitlines()
    assert last == stored  # until no valid pointer lacks the new one
    Path("keys.pem").write_bytes(pems[1] + pems[0])
    shown = run("gallery-key", "show").out.splitlines()
    assert shown[1:] == [first, stored]
    refused = run("gallery-key", "rotate")
    assert refused.code == 2
    assert "put a new key before the others there, and remove the old one after 30 days" in refused.err
    for content, why in (
        (b"", "holds no private key in PEM"),
        (pems[0][:60], "holds no private key in PEM"),
        (pem(rsa=True), "holds a key that is not Ed25519"),
        (pem(password=b"secret"), "is protected by a password"),
    ):
        Path("keys.pem").write_bytes(content)
        assert_one_line(run("publish", "gallery"), 1, f"The gallery key file keys.pem {why}")
    Path("keys.pem").unlink()
    assert_one_line(run("publish", "gallery"), 1, "keys.pem cannot be read (No such file or directory)")


def pem(*, rsa: bool = False, password: bytes | None = None) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    key = generate_private_key(65537, 2048) if rsa else Ed25519PrivateKey.generate()
    encryption = BestAvailableEncryption(password) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
