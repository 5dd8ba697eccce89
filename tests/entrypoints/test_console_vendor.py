"""What the console has from others is what its manifest says, and the manifest what the locks say."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
VENDOR = ROOT / "src/logoadmin/entrypoints/console/vendor"
SWAGGER_README = ROOT / "src/logoadmin/entrypoints/http_api/swagger_ui/README.md"
NOTICE = (ROOT / "NOTICE").read_text(encoding="utf-8")
MANIFEST: dict[str, Any] = json.loads((VENDOR / "manifest.json").read_text(encoding="utf-8"))
LOCK: dict[str, Any] = json.loads((ROOT / "tools/console/package-lock.json").read_text(encoding="utf-8"))["packages"]


def test_the_manifest_has_every_module() -> None:
    assert set(MANIFEST) == {path.name for path in VENDOR.iterdir() if path.suffix in {".js", ".woff2"}}


@pytest.mark.parametrize("name", MANIFEST)
def test_a_vendored_module_is_unmodified(name: str) -> None:
    assert hashlib.sha512((VENDOR / name).read_bytes()).hexdigest() == MANIFEST[name]["sha512"], "run make vendor"


@pytest.mark.parametrize("name", MANIFEST)
def test_a_vendored_module_lists_its_packages_and_licences(name: str) -> None:
    licences = (VENDOR / name).with_suffix(".LICENSE.txt").read_text(encoding="utf-8")
    assert MANIFEST[name]["packages"]
    for package in MANIFEST[name]["packages"]:
        locked = LOCK[f"node_modules/{package['name']}"]
        assert package == {"name": package["name"], **{key: locked[key] for key in ("version", "license", "integrity")}}
        assert re.search(rf"(^|, ){re.escape(package['name'])} {re.escape(package['version'])}(,|$)", licences, re.M)


def test_packages_are_verified_by_hash_from_any_source() -> None:
    locked = {name: package for name, package in LOCK.items() if name}
    assert [name for name, package in locked.items() if "resolved" in package or "integrity" not in package] == []


def test_the_notice_lists_all_third_party_code_in_the_wheel() -> None:
    vendored = [
        (f"entrypoints/console/vendor/{module}", f"{package['name']} {package['version']}", package["license"])
        for module, entry in MANIFEST.items()
        for package in entry["packages"]
    ]
    swagger = re.search(r"swagger-ui-dist`? ([0-9.]+)", SWAGGER_README.read_text(encoding="utf-8"))
    assert swagger
    vendored.append(("entrypoints/http_api/swagger_ui/", f"swagger-ui-dist {swagger[1]}", "Apache-2.0"))
    vendored.append(("domain/identity/common_passwords.txt", "Django 5.2.19, list of passwords", "BSD-3-Clause"))
    vendored.append(("domain/identity/common_passwords.txt", "zxcvbn 4.5.0, list of passwords", "MIT"))
    listed = [tuple(re.split(r" {2,}", line)) for line in NOTICE.splitlines() if line.startswith(("entry", "domain/"))]
    assert sorted(listed) == sorted(vendored)
    assert all((ROOT / "src/logoadmin" / place).exists() for place, _, _ in vendored)
