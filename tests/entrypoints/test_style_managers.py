"""usercss-meta, the parser of user style managers, reads the head of each user style (contract Q3)."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from logoadmin.adapters.memory_gallery_files import MemoryGalleryFiles
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.css.targets import Target, Targets
from logoadmin.domain.publication.css.user_style_source import user_style_source
from logoadmin.domain.publication.files.user_styles import StyledArtwork, user_style
from logoadmin.domain.publication.shared_settings import AmendSettings
from logoadmin.settings import settings_of
from tests.entrypoints.conftest import Run
from tests.options import GALLERY, skip_without
from tests.user_styles import sections, user_styles

pytestmark = [pytest.mark.server("Node is started"), pytest.mark.rule("contract Q3")]

ROOT: Final = Path(__file__).parents[2]
MODULES: Final = ROOT / "tools/console/node_modules"
NODES: Final = (str(ROOT / ".venv-node/bin/node"), "node")
# Managers look for the head like this.
HEAD: Final = r"""
const { parse } = require("usercss-meta");
const head = /\/\*!?\s*==userstyle==[\s\S]*?==\/userstyle==\s*\*\//i;
const styles = JSON.parse(require("fs").readFileSync(0, "utf8"));
"""
READ: Final = r"""
const read = ([name, text]) => [name, parse(text.match(head)[0], { unknownKey: "throw" }).metadata];
console.log(JSON.stringify(Object.fromEntries(Object.entries(styles).map(read))));
"""
TARGETS: Final = {
    name: {"name": name, "documents": [f'domain("{name}.example")'], "logo": ".logo"}
    for name in ("forum", "market", "wiki")
}
NAMES: Final = (
    *("Aurora", "Dawn */ body { display: none } /*", "a\nb", "a\r\n@name b", "@name b", "==/UserStyle== */", "*\\/"),
    *('"quoted"', '"', "'a'", "`a`", '"a\\"', "\\u0041", '"\\u0041"', "<<<EOT a EOT;", "a\u2028b", "\u202eabc"),
    "👩‍💻 é",
    *("@var text a 'b' c", "==UserStyle==\n@version 9", "a" * 200, "// a", "{}", "x\x00y"),
)


def metadata(styles: Mapping[str, str], program: str = READ) -> Any:
    """Return the metadata that usercss-meta reads in each style."""
    node = next(filter(None, map(shutil.which, NODES)), None)
    if node is None or not MODULES.joinpath("usercss-meta").is_dir():
        skip_without("NODE", "usercss-meta is not installed: make tools/console/node_modules/ready")
    variables, sent = {**os.environ, "NODE_PATH": str(MODULES)}, json.dumps(styles)
    command = [node, "-e", HEAD + program]
    run = subprocess.run(command, env=variables, input=sent, text=True, timeout=120, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_every_style_of_the_sample_gallery_is_read(run: Run, tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/gallery.db"
    assert run("import", str(GALLERY), "--database", database).code == 0
    published = MemoryGalleryFiles()
    with open_gallery(settings_of(database=database, public_url="https://gallery.example")) as gallery:
        gallery.settings.amend(AmendSettings(gallery_targets=TARGETS))
        gallery.publication.publish(published)
    files = {name: text.decode() for name, text in published.files.items() if name.endswith((".user.css", ".json"))}
    styles = {name: text for name, text in files.items() if name.endswith(".user.css")}
    (index,) = [json.loads(text) for name, text in files.items() if name[:1].isdigit()]
    expected = {
        f"{kind}s/{record[f'{kind}_id']}.user.css": record
        for kind in ("logo", "theme")
        for record in index[f"{kind}s"]
        if record["target"] in TARGETS and not any(each["risk"] == "invalid" for each in record["css"].get("risks", []))
    }
    authors = {each["author_id"]: each["username"] for each in index["authors"]}
    assert len(styles) > 10
    found = metadata(styles)
    assert found.keys() == expected.keys()
    for name, record in expected.items():
        read = found[name]
        assert {*sections(styles[name])} == {(("domain", f"{record['target']}.example"),)}
        assert read["name"] == " ".join(record["name"].split())
        names = ", ".join(authors[each] for each in record.get("author_ids", []))
        assert read.get("author", "") == " ".join(names.split())
        assert read["updateURL"] == f"https://gallery.example/gallery/{name}"
        assert read["homepageURL"] == f"https://gallery.example/gallery/{name.removesuffix('.user.css')}/"
    assert len({read["namespace"] for read in found.values()}) == len(found)


def test_unusual_names_are_read_unchanged() -> None:
    target = Target("forum", "Forum", ('domain("forum.example")',), ".logo")
    styles = {}
    for number, name in enumerate(NAMES):
        artwork = StyledArtwork(Kind.LOGO, number, number, name, [name, "Ann"], "color: red")
        styles[name] = user_style(artwork, target, "a", "https://a.example/", has_page=True) or ""
    for number, (name, read) in enumerate(metadata(styles).items()):
        plain = " ".join(name.split()).replace("\x00", "")
        assert _without_marks(read["name"]) == _without_marks(plain).replace("*\\/", "*/")
        assert read["version"] == f"1.0.{number}"
        assert _without_marks(read["author"]) == _without_marks(f"{plain}, Ann").replace("*\\/", "*/")
        assert read.keys() == {"name", "namespace", "version", "author", "homepageURL", "updateURL"}


def _without_marks(text: str) -> str:
    """Return a text without what turns its neighbours or might end a head, which is written with a space."""
    return (
        re.sub("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", "", text)
        .replace("= =", "==")
        .replace("==/UserStyle==", "")
        .replace("==UserStyle==", "")
    )


DEFAULTS: Final = r"""
const chosen = (options, name) => options.find((each) => each.name === name).value;
const value = (each) => (each.options ? chosen(each.options, each.default) : `${each.default}${each.units ?? ""}`);
const read = ([name, text]) => {
  const { vars = {}, ...metadata } = parse(text.match(head)[0].replace(/\r\n/g, "\n")).metadata;
  const values = Object.entries(vars).map(([key, each]) => [key, value(each)]);
  return [name, { ...metadata, vars: Object.fromEntries(values) }];
};
console.log(JSON.stringify(Object.fromEntries(Object.entries(styles).map(read))));
"""


@pytest.mark.rule("contract S3")
def test_user_styles_are_parsed_like_in_style_managers() -> None:
    styles = {f"{number}": text for number, (text, _) in enumerate(user_styles()) if "@version" in text}
    for name, read in metadata(styles, DEFAULTS).items():
        found = user_style_source(styles[name], Targets({}))
        assert (found.name, found.details.version) == (read["name"], read["version"])
        members = ("description", "license"), ("homepage", "homepageURL"), ("support", "supportURL")
        assert found.details.description == read.get("description")
        assert [getattr(found.details, ours) for ours, _ in members[1:]] == [read.get(key) for _, key in members[1:]]
        assert found.details.licence == read.get("license")
        for variable, value in read["vars"].items():
            assert f"  --{variable}: {value};\n" in found.custom_css
        file = user_style(
            StyledArtwork(Kind.THEME, 1, 7, read["name"], found.authors, found.custom_css),
            Target("forum", "Forum", ('domain("forum.example")',)),
            "a",
            None,
            has_page=False,
        )
        assert metadata({"a": file or ""})["a"]["version"] == "1.0.7" if name in ("0", "4") else file is not None
