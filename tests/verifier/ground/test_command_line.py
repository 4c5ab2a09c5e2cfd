"""Command lines are split without a shell, and a spec's own tests come first."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from agent_fox.verifier.ground.command_line import CommandRefused, expanded, split_command, suites
from tests.verifier.made_projects import write


@pytest.mark.parametrize(
    "line",
    [
        "a && b",
        "a&&b",
        "a | b",
        "a > out",
        "a 2>&1",
        "a; b",
        "echo $(pwd)",
        "(a)",
        "a &",
        "a < in",
        "",
        "X=1",
        "a 'b",
    ],
)
def test_what_only_a_shell_can_do_is_refused(line: str) -> None:
    with pytest.raises(CommandRefused, match=r"needs a shell|names no command|can't be split"):
        split_command(line)


def test_quoted_words_and_leading_variables_need_no_shell() -> None:
    command = split_command("PYTHONPATH=src LEVEL='a b' pytest -k 'one or (two | three)' # not a comment")
    assert command.variables == {"PYTHONPATH": "src", "LEVEL": "a b"}
    assert command.argv[:3] == ("pytest", "-k", "one or (two | three)")


def test_the_specs_own_tests_come_first_and_linters_never() -> None:
    commands = {"All tests": "a", "Linter": "l", "Spec tests": "s", "Unit tests": "u", "Single test": "x"}
    assert suites(commands) == ("s", "a")
    assert suites({"Unit tests": "u", "Linter": "l", "Single test": "x", "Property tests": "p"}) == ("u", "p")
    assert suites({"spec_tests": "s", "all_tests": "s"}) == ("s",)
    assert suites({"Linter": "l"}) == ()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("node --test test/*.test.js", "node --test test/a.test.js test/b.test.js"),
        ("node --test 'test/**/*.test.js'", "node --test test/a.test.js test/b.test.js test/deep/c.test.js"),
        ("node --test **/*.test.js", "node --test test/a.test.js test/b.test.js test/deep/c.test.js"),
        ("pytest test/no_*.py", "pytest test/no_*.py"),
        ("pytest test/a.py::test_x[1-2]", "pytest test/a.py::test_x[1-2]"),
        ("jest --testPathPattern=test/*", "jest --testPathPattern=test/*"),
        ("cat /etc/host*", "cat /etc/host*"),
        ("tape *.js", "tape ./--only.js main.js"),
        ("tape test/?.test.js", "tape test/a.test.js test/b.test.js"),
        ("mocha test/[", "mocha test/["),
        ("mocha a**b/**", "mocha a**b/**"),
        ("mocha test/**", "mocha test/a.test.js test/b.test.js test/deep/c.test.js"),
        ("mocha **/**/deep/**/*.js", "mocha test/deep/c.test.js"),
        ("mocha ./test/**/c.*.js", "mocha test/deep/c.test.js"),
        ("mocha nowhere/**/*.js", "mocha nowhere/**/*.js"),
        ("mocha ../**/*.py", "mocha ../**/*.py"),
    ],
)
def test_globs_become_names_of_files_as_in_a_shell(tmp_path: Path, line: str, words: str) -> None:
    files = ("test/b.test.js", "test/a.test.js", "test/deep/c.test.js", "node_modules/x/y.test.js", "test/.h.test.js")
    write(tmp_path, dict.fromkeys((*files, "main.js", "--only.js"), ""))
    assert " ".join(expanded(split_command(line).argv, tmp_path)) == words


def test_links_between_packages_are_not_followed_in_circles(tmp_path: Path) -> None:
    names = [f"p{number}" for number in range(12)]
    write(tmp_path, {f"packages/{name}/{name}.test.js": "" for name in names})
    for name in names:
        (tmp_path / "packages" / name / "linked").mkdir()
        for other in names:
            (tmp_path / "packages" / name / "linked" / other).symlink_to(tmp_path / "packages" / other)
    assert len(expanded(("node", "--test", "packages/**/*.test.js"), tmp_path)) == 2 + len(names)


def test_a_glob_of_many_folders_takes_no_ages(tmp_path: Path) -> None:
    deep = "/".join(["a"] * 24)
    write(tmp_path, {f"{deep}/b.js": ""})
    words = ("tape", "**/a/" * 12 + "c.js")
    started = time.monotonic()
    assert expanded(words, tmp_path) == words
    assert expanded(("tape", "**/a/**/a/**/b.js"), tmp_path) == ("tape", f"{deep}/b.js")
    assert time.monotonic() - started < 5
