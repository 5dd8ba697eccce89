"""Moving a store in by one command: pictures beside the file, user styles, and lines that are skipped (contract I5)."""

import csv
import glob
import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import logoadmin
from logoadmin.domain.gallery.picture_commands import ListPictures
from logoadmin.domain.logo_admin import LogoAdmin
from tests.entrypoints.conftest import Run, assert_one_line

pytestmark = [pytest.mark.rule("contract I5"), pytest.mark.usefixtures("initialised")]

STYLE = """/* ==UserStyle==
@name Aurora
@namespace example
@version 2.1.0
@description Northern lights
@author Ann
@license MIT
==/UserStyle== */
@-moz-document domain("forum.example") { a { color: #123 } }
"""


def draw(name: str, color: str = "#123456") -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (40, 25), color).save(path)


def write(name: str, *lines: dict[str, Any]) -> None:
    Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def line(name: str, **values: object) -> dict[str, Any]:
    theme = {"kind": "theme", "target": "forum.example", "custom_css": "a { color: #123 }", "active": True}
    return {**theme, "name": name, "authors": ["Ann"], "details": {"origin": name.lower()}, **values}


def themes() -> list[logoadmin.Theme]:
    with opened() as gallery:
        return list(gallery.themes.list(logoadmin.ListThemes()))


def opened() -> LogoAdmin:
    return logoadmin.connect("sqlite:///logoadmin.db")


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"picture_file": "../secret.png"}, "picture_file: ../secret.png is outside the folder of the file"),
        ({"picture_file": "link.png"}, "picture_file: link.png is outside the folder of the file"),
        ({"picture_file": "missing.png"}, "picture_file: missing.png cannot be read: No such file or directory"),
        ({"picture_file": "folder"}, "picture_file: folder cannot be read: Is a directory"),
        ({"picture_file": "pipe.png"}, "picture_file: pipe.png is not a file"),
        ({"picture_file": "circle.png"}, "picture_file: circle.png cannot be read: Too many levels of symbolic links"),
        ({"picture_file": "text.png"}, "picture_file: text.png: "),
        ({"picture_file": 7}, "picture_file: Input should be a file name"),
        ({"picture_file": "a", "preview_url": "b"}, "picture_file: Line should have preview_url or picture_file"),
    ],
)
def test_a_bad_picture_is_a_problem_of_its_line(run: Run, values: dict[str, object], problem: str) -> None:
    draw("secret.png")
    Path("store/folder").mkdir(parents=True)
    Path("store/text.png").write_text("no picture")
    Path("store/link.png").symlink_to(Path("secret.png").resolve())
    Path("store/circle.png").symlink_to("circle.png")
    os.mkfifo("store/pipe.png")
    write("store/store.jsonl", line("W", **values))
    ended = run("import", "store/store.jsonl")
    assert ended.code == 1
    first, last = ended.err.splitlines()
    assert first.startswith(f"store/store.jsonl:1: {problem}")
    assert last == "logoadmin: 1 line cannot be imported; nothing was imported"


def test_a_dry_run_checks_and_names_pictures_but_stores_none(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGOADMIN_PUBLIC_URL", "https://gallery.example/g")
    draw("a.png")
    write("store.jsonl", line("W", picture_file="a.png"))
    first = run("import", "--dry-run", "store.jsonl").out.splitlines()[0]
    assert first == "Could import 1 author (1 created), 1 theme (1 created)"
    with opened() as gallery:
        assert list(gallery.pictures.list(ListPictures())) == []
    assert run("import", "store.jsonl").code == 0
    assert themes()[0].preview_url.startswith("https://gallery.example/g/pictures/")
    assert run("import", "--dry-run", "store.jsonl").out == "Could import 1 theme (1 unchanged)\n"
    Path("a.png").write_text("no picture")
    assert run("import", "--dry-run", "store.jsonl").code == 1


def test_all_problems_of_a_line_with_pictures_are_reported(run: Run) -> None:
    write("store.jsonl", line("", picture_file="a.png", screenshot_files=[7, "b.png"]))
    assert [text.partition(": ")[2] for text in run("import", "store.jsonl").err.splitlines()[:-1]] == [
        "picture_file: a.png cannot be read: No such file or directory",
        "screenshot_files: Input should be a file name",
        "screenshot_files: b.png cannot be read: No such file or directory",
        "name: String should have at least 1 character",
    ]


@pytest.mark.parametrize(
    ("kind", "last"), [("author", "username, created_at"), ("theme", "created_at, picture_file, screenshot_files")]
)
def test_the_allowed_columns_of_a_spreadsheet_are_listed(run: Run, kind: str, last: str) -> None:
    Path("store.csv").write_text("rank\n1\n")
    first = run("import", "store.csv", "--kind", kind).err.splitlines()[0]
    assert first.startswith(f"store.csv:1: rank: Field should be one of {kind}_id, ")
    assert first.endswith(f", {last}")


def test_invalid_lines_can_be_skipped_without_a_trace(run: Run) -> None:
    Path("torn.png").write_bytes(b"no picture")
    picture = {"preview_url": "https://example.org/a.png"}
    linked = {key: value for key, value in line("Linked", **picture, author_ids=[9]).items() if key != "authors"}
    taken = line("Taken", **picture, theme_id=50, authors=["Nobody"], details={"origin": "good"})
    nameless = {"kind": "author", "author_id": 9, "user_id": 1, "username": ""}
    bad = (line("Bad", preview_url="no URL"), line("Torn", picture_file="torn.png"))
    write("store.jsonl", line("Good", **picture), *bad, taken, linked, nameless)
    assert run("import", "store.jsonl").code == 1
    ended = run("import", "--skip-invalid", "store.jsonl")
    assert (ended.code, ended.out.splitlines()[0]) == (1, "Imported 1 author (1 created), 1 theme (1 created)")
    problems = ended.err.splitlines()
    assert [each.partition(": ")[0] for each in problems[:5]] == [f"store.jsonl:{number}" for number in range(2, 7)]
    assert problems[0].startswith("store.jsonl:2: Bad: preview_url: ")
    assert problems[1].startswith("store.jsonl:3: Torn: picture_file: torn.png: ")
    assert problems[5] == "logoadmin: 5 lines skipped"
    assert [theme.name for theme in themes()] == ["Good"]
    with opened() as gallery:
        assert [author.username for author in gallery.authors.list(logoadmin.ListAuthors())] == ["Ann"]


# The examples of docs/move-in.md.

PAGE = (Path(__file__).parents[2] / "docs/move-in.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def commands(run: Run, block: str) -> list[str]:
    """Run the commands of a block; return their first lines of output."""
    said = []
    for command in block.splitlines():
        words = [word for part in shlex.split(command)[1:] for word in (sorted(glob.glob(part)) or [part])]
        ended = run(*words)
        assert ended.code == 0, ended
        said.append(ended.out.splitlines()[0])
    return said


def test_a_folder_of_json_and_pictures_is_imported(run: Run) -> None:
    for number, name in enumerate(("aurora", "copper")):
        draw(f"store/themes/{name}/preview.png", f"#0000{number}1")
        draw(f"store/themes/{name}/thread.png", f"#0000{number}2")
        known = {"title": name.title(), "by": ["Ann"], "about": "A theme", "tags": ["Dark"], "site": "https://x.test"}
        Path(f"store/themes/{name}/theme.json").write_text(json.dumps(known))
        Path(f"store/themes/{name}/style.css").write_text("a { color: #123 }")
    (program,) = blocks("python")
    exec(compile(program, "docs/move-in.md", "exec"), {})
    dry, done = commands(run, blocks("sh")[0])
    made = "1 author (1 created), 2 themes (2 created)"
    assert (dry, done) == (f"Could import {made}", f"Imported {made}")
    assert commands(run, blocks("sh")[0])[1] == "Imported 2 themes (2 unchanged)"
    aurora, copper = themes()
    assert "/pictures/" in aurora.preview_url
    assert copper.preview_url != aurora.preview_url
    assert (aurora.details.tags, aurora.details.origin, len(aurora.details.pictures)) == (("dark",), "aurora", 1)


@pytest.mark.rule("contract S3")
def test_a_folder_of_user_styles_is_imported_and_updates_changed_ones(run: Run) -> None:
    Path("styles").mkdir()
    draw("styles/without-picture.png")
    draw("styles/aurora.png", "#ff0000")
    Path("styles/aurora.user.css").write_bytes(b"\xef\xbb\xbf" + STYLE.replace("\n", "\r\n").encode())
    Path("styles/copper (2).user.css").write_text(STYLE.replace("Aurora", "Copper").replace("@author Ann\n", ""))
    assert commands(run, blocks("sh")[1]) == ["Imported 1 author (1 created), 2 themes (2 created)"]
    aurora, copper = themes()
    about = aurora.details
    assert (aurora.name, aurora.target, aurora.active) == ("Aurora", "forum.example", True)
    assert (about.description, about.licence, about.version) == ("Northern lights", "MIT", "2.1.0")
    assert [about.origin, copper.details.origin] == ["aurora", "copper-2-"]
    assert [len(theme.authors) for theme in (aurora, copper)] == [1, 0]
    assert aurora.preview_url != copper.preview_url
    assert "UserStyle" not in aurora.custom_css
    with opened() as gallery:
        gallery.themes.amend(logoadmin.AmendTheme(theme_id=copper.theme_id, active=False))
    Path("styles/copper (2).user.css").write_text(STYLE.replace("Aurora", "Copper").replace("#123", "#321"))
    assert commands(run, blocks("sh")[1]) == ["Imported 2 themes (1 amended, 1 unchanged)"]
    assert (themes()[1].active, "#321" in themes()[1].custom_css) == (False, True)


@pytest.mark.rule("contract S3")
@pytest.mark.parametrize(
    ("style", "problems"),
    [
        (STYLE.replace("@license MIT", "@preprocessor stylus"), ["compile it to CSS first"]),
        (
            STYLE.replace("@name Aurora\n", "").partition("@-moz-document")[0] + "a { color: #123 }",
            ["name: The style should have @name", "target: No target has all of its pages"],
        ),
        ("a { color: #123 }", ["==UserStyle=="]),
    ],
)
def test_a_user_style_that_cannot_be_imported_is_named(run: Run, style: str, problems: list[str]) -> None:
    draw("p.png")
    Path("a.user.css").write_text(style)
    Path("b.user.css").write_text(STYLE)
    ended = run("import", "a.user.css", "b.user.css", "--picture", "p.png")
    assert ended.code == 1
    reported = [text for text in ended.err.splitlines() if text.startswith("a.user.css: ")]
    assert [problem in text for problem, text in zip(problems, reported, strict=True)] == [True] * len(problems)
    assert run("import", "--skip-invalid", "a.user.css", "b.user.css", "--picture", "p.png").code == 1
    assert [theme.details.origin for theme in themes()] == ["b"]


@pytest.mark.rule("contract S3")
def test_user_styles_with_other_names_are_other_themes(run: Run) -> None:
    draw("p.png")
    names = ["\u043b\u0435\u0442\u043e", "\u0437\u0438\u043c\u0430", "x" * 200, "x" * 201]
    for name in names:
        Path(f"{name}.user.css").write_text(STYLE)
    files = [f"{name}.user.css" for name in names]
    assert run("import", *files, "--picture", "p.png").code == 0
    origins = {theme.details.origin or "" for theme in themes()}
    assert (len(origins), max(map(len, origins))) == (len(names), 128)
    assert run("import", *files).out.splitlines()[0] == "Imported 4 themes (4 unchanged)"


@pytest.mark.rule("contract S3")
@pytest.mark.parametrize(
    ("files", "problem"),
    [
        (
            ("a b.user.css", "a-b.user.css", "--picture", "secret.png"),
            "a-b.user.css: details.origin: It would be the same theme as a b.user.css: rename one of them",
        ),
        (("styles/a.user.css",), "styles/a.user.css: picture_file: styles/a.png leads outside of its folder"),
    ],
)
def test_user_styles_are_apart_with_pictures_in_their_folder(run: Run, files: tuple[str, ...], problem: str) -> None:
    draw("secret.png")
    Path("styles").mkdir()
    for name in ("a b.user.css", "a-b.user.css", "styles/a.user.css"):
        Path(name).write_text(STYLE)
    Path("styles/a.png").symlink_to(Path("secret.png").resolve())
    ended = run("import", *files)
    assert (ended.code, ended.err.splitlines()[0]) == (1, problem)


def test_a_spreadsheet_is_imported(run: Run) -> None:
    draw("sheet/pictures/aurora.png", "#123456")
    draw("sheet/pictures/copper.png", "#b40000")
    with Path("sheet/store.csv").open("w", encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(blocks("text")[1].splitlines())
        cell = "pictures/aurora.png\npictures/copper.png"
        csv.writer(file).writerows([[*head, "screenshot_files"], *([*row, cell] for row in rows)])
    assert commands(run, blocks("sh")[2]) == ["Imported 3 authors (3 created), 2 themes (2 created)"]
    assert commands(run, blocks("sh")[2]) == ["Imported 2 themes (2 unchanged)"]
    aurora, copper = themes()
    assert [theme.details.tags for theme in (aurora, copper)] == [("dark", "winter"), ("light",)]
    assert [theme.details.pictures for theme in (aurora, copper)] == [(aurora.preview_url, copper.preview_url)] * 2
    assert aurora.preview_url != copper.preview_url
    assert [author.username for author in aurora.authors] == ["Ann", "Ben"]


def test_options_of_user_styles_and_of_files_cannot_be_mixed(run: Run) -> None:
    several, target, kind = "a.jsonl b.jsonl", "a.jsonl --target forum", "a.user.css --kind theme"
    for words, text in {several: "can be several", target: "have a --target", kind: "no --kind"}.items():
        assert_one_line(run("import", *words.split()), 2, text)
