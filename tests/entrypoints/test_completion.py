"""What shells complete of the command line."""

import shlex

import pytest

from tests.entrypoints.command_line import Run, says_one_line

pytestmark = [pytest.mark.usefixtures("empty_directory"), pytest.mark.rule("contract K4")]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["he"], {"healthcheck"}),
        (["user", ""], {"code", "create", "factors", "list", "password", "remove", "role"}),
        (["export", "-", "--kind", "l"], {"logo"}),
        (["serve", "--acc"], {"--access"}),
        (["serve", "--access", ""], {"open", "guarded"}),
        (["config", "--log-level", "in"], {"info"}),
        (["completion", ""], {"bash", "zsh", "fish"}),
        (["user", "password", "ann", "--factors", ""], {"keep", "remove"}),
    ],
)
def test_commands_options_and_values_are_completed(
    run: Run, monkeypatch: pytest.MonkeyPatch, typed: list[str], offered: set[str]
) -> None:
    """The questions of the bash script and their answers; in the next test, bash itself asks."""
    monkeypatch.setenv("_LOGOADMIN_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", shlex.join(["logoadmin", *typed]))
    monkeypatch.setenv("COMP_CWORD", f"{len(typed)}")
    ended = run()
    assert (ended.code, {line.partition(",")[2] for line in ended.out.splitlines()}, ended.err) == (0, offered, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_given_a_script_that_asks_the_program(
    run: Run, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    ended = run("completion", shell)
    assert (ended.code, ended.err) == (0, "")
    assert f"_LOGOADMIN_COMPLETE={shell}_complete" in ended.out
    monkeypatch.setenv("_LOGOADMIN_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", "logoadmin serve --access gu")
    monkeypatch.setenv("COMP_CWORD", "gu" if shell == "fish" else "3")
    completed = run()
    assert (completed.code, completed.err) == (0, "")
    assert "guarded" in completed.out
    assert "open" not in completed.out


def test_other_shells_are_refused(run: Run) -> None:
    says_one_line(run("completion", "tcsh"), 2, "tcsh", "bash", "zsh", "fish")
