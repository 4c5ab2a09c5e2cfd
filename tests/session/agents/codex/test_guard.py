"""The hook that lets a judging session of codex read, and nothing else. What is allowed is tried with a real shell."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_fox.session.agents.codex import guard
from agent_fox.session.agents.codex.guard import why_not, why_not_reading

READS = [
    "cat a.txt",
    "ls -la src && head -n 20 src/a.py",
    "grep -rn 'def main' src | head -5",
    'grep -n "foo\\.bar" src/*.py',
    "rg --files 2>/dev/null",
    "rg -n 'a|b' src; wc -l src/a.py",
    "sed -n 1,200p src/a.py",
    "sed -n '5p' src/a.py",
    "find . -name '*.py' -type f",
    "git log --oneline -5",
    "git --no-pager diff HEAD~1 -- src/a.py",
    "git show HEAD:src/a.py | head -40",
    "cat a.txt 2>&1 | tail -3",
    "[ -f a.txt ] && cat a.txt || echo none",
    "sort -rn a.txt | uniq -c",
    "echo 'a; rm -rf b' && echo \"x > y\"",
    "cat a.txt\ncat b.txt",
]

DOES_MORE = [
    "cat a\r2>&1\r",
    "cat a\r>/dev/null\r",
    "",
    "python3 -c 'print(1)'",
    "pytest",
    "touch x",
    "cat a > b",
    "cat a >> b",
    "cat a >/dev/null2",
    "cat <(touch x)",
    "cat $(touch x)",
    "cat `touch x`",
    'cat "$(touch x)"',
    'cat "`touch x`"',
    "cat a & touch x",
    "cat a; touch x",
    "cat a && touch x",
    "cat a | sh",
    "cat a\ntouch x",
    "cat a |& sh",
    "(touch x)",
    "{ touch x; }",
    "A=b cat a",
    "cat a \\; touch x",
    "cat $'a\\'; touch x; echo \\''",
    "\\touch x",
    "'touch' x",
    'to"uch" x',
    "{touch,x}",
    "c?t a",
    "/bin/cat a",
    "rg --pre ./evil x",
    "rg --pre=./evil x",
    "rg -z x",
    "rg -nz x",
    "rg x *",
    "find . -exec touch x ;",
    "find . -delete",
    "find . -fprint x",
    "sed -n '1w x' a",
    "sed -i s/a/b/ a",
    "sed -n 1p -i a",
    "sed -n -e 1e a",
    "sort -o x a",
    "sort --compress-program=./evil a",
    "sort -nox a",
    "uniq a b",
    "git commit -m x",
    "git -c core.pager=./evil log",
    "git -C .. log",
    "git log --output=x",
    "git log --ext-diff",
    "git grep -O./evil x",
    "git grep --open-files-in-pager=./evil x",
    "git checkout .",
    "git config --list",
    "env touch x",
    "xargs touch",
    "exec touch x",
    "eval 'touch x'",
    "source a",
    ". a",
    "cat 'a",
    'cat "a',
    "cat a #'\ntouch x\n'",
    "cat a\0touch x",
    "time touch x",
    "! touch x",
    "alias cat=touch",
    "cat() { touch x; }",
    "tee x",
    "awk 'BEGIN{system(\"touch x\")}'",
]


@pytest.mark.parametrize("command", READS)
def test_reading_is_allowed(command: str) -> None:
    assert why_not_reading(command) == ""


def test_whatever_does_more_than_read_is_not() -> None:
    told = {command: why_not_reading(command) for command in DOES_MORE}
    assert {command for command, why in told.items() if not why.startswith("this session may only read")} == set()


PIECES = st.sampled_from(
    [
        *("touch made", "cat a", "echo", "ls", "grep x a", "sed -n", "find .", "git log", "rg x", "sort", "[", "]"),
        *(" ", " ", "\n", ";", "|", "||", "&&", "&", "'", '"', "\\", "$(", ")", "`", "{", "}", "(", "<", ">", "#"),
        *("2>&1", "2>/dev/null", " -exec ", " -o ", "made", "$", "=", "*", "$'", "!", "~", "\t", "\r", "1p"),
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=9).map("".join))
def test_nothing_that_is_allowed_writes(tmp_path_factory: pytest.TempPathFactory, command: str) -> None:
    """Random command lines that the guard lets through are run by bash: nothing may have been made by them."""
    if why_not_reading(command):
        return
    folder = tmp_path_factory.mktemp("guard")
    (folder / "a").write_text("x\n", encoding="utf-8")
    subprocess.run(
        ["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
    )
    assert sorted(path.name for path in folder.iterdir()) == ["a"]


def test_tools_of_the_verifier_are_allowed_and_no_others() -> None:
    assert why_not("mcp__verifier__run_unit_tests", {}, "read") == ""
    assert why_not("view_image", {"path": "a.png"}, "read") == ""
    for tool in ("apply_patch", "mcp__other__run", "exec", "Write", ""):
        assert "may only read" in why_not(tool, {"command": "cat a"}, "read")


def test_nothing_is_allowed_where_only_the_answer_is_wanted() -> None:
    for tool in ("Bash", "mcp__verifier__run_unit_tests", "view_image"):
        assert why_not(tool, {"command": "cat a"}, "none")


def hook(text: str) -> tuple[int, str]:
    """The hook as codex starts it."""
    argv = [sys.executable, "-I", "-S", str(Path(guard.__file__))]
    ended = subprocess.run(argv, input=text, capture_output=True, text=True, timeout=20, check=False)
    return ended.returncode, ended.stderr


def test_the_hook_lets_reading_go_on() -> None:
    assert hook(json.dumps({"tool_name": "Bash", "tool_input": {"command": "cat a"}})) == (0, "")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"tool_name": "Bash", "tool_input": {"command": "touch a"}}),
        json.dumps({"tool_name": "Bash", "tool_input": "cat a"}),
        json.dumps({"tool_name": "Bash", "tool_input": {"command": ["cat", "a"]}}),
        json.dumps({"tool_input": {"command": "cat a"}}),
        "[]",
        "null",
        "",
        "[" * 100_000,
    ],
)
def test_the_hook_stops_what_does_more_and_what_it_cannot_read(text: str) -> None:
    status, said = hook(text)
    assert status == 2
    assert said
