"""The place that a trace names: the project's, not a library's; and paths in every spelling."""

from __future__ import annotations

import pytest

from agent_fox.verifier.logs.frames import go_place, java_place, javascript_place, python_place
from tests.verifier.logs.at_hand import workspace

W = workspace("/workspace/app")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("    at f (/workspace/app/src/a.js:3:5)", ("src/a.js", 3, 5)),
        ("    at async file:///workspace/app/my%20dir/a.mjs:3:5", ("my dir/a.mjs", 3, 5)),
        ("    at f (/workspace/app/node_modules/x/i.js:1:1)\n    at g (src/b.ts:2:9)", ("src/b.ts", 2, 9)),
        ("    at f (node:internal/a:1:1)\n    at Object.<anonymous> (b.test.tsx:2:9)", ("b.test.tsx", 2, 9)),
        (" ❯ parse src/load.ts:5:35", ("src/load.ts", 5, 35)),
        (" ❯ src/load.ts:5:35", ("src/load.ts", 5, 35)),
        ("started 2026-01-01 10:20:30\n    at f (/elsewhere/a.js:1:1)", None),
    ],
)
def test_javascript(text: str, place: tuple[str, int, int] | None) -> None:
    found = javascript_place(text, W)
    assert (found and (found.file, found.line, found.column)) == place


def test_python_takes_the_deepest_frame_of_the_project() -> None:
    trace = (
        'Traceback (most recent call last):\n  File "/workspace/app/tests/test_a.py", line 3, in test_a\n'
        '  File "/workspace/app/lib.py", line 9, in load\n  File "/usr/lib/python3.11/json/decoder.py", line 355\n'
        '  File "/workspace/app/.venv/lib/python3.11/site-packages/x.py", line 1\n'
        '  File "<string>", line 1\nValueError: at other.py:1:2'
    )
    found = python_place(trace, W)
    assert (found and (found.file, found.line)) == ("lib.py", 9)


def test_java_without_a_frame_of_the_test_takes_the_first_of_the_project() -> None:
    trace = "\tat org.junit.Assert.fail(Assert.java:1)\n\tat com.acme.Base.check(Base.java:7)\n"
    found = java_place(trace, "com.acme.ATest", "api")
    assert (found and (found.file, found.line)) == ("api/src/main/java/com/acme/Base.java", 7)
    assert java_place("no frames", "com.acme.ATest") is None


def test_go() -> None:
    found = go_place("    a_test.go:7: x", W)
    assert (found and (found.file, found.line)) == ("a_test.go", 7)


@pytest.mark.parametrize(
    ("path", "relative", "is_inside"),
    [
        ("/workspace/app/src/a.c", "src/a.c", True),
        ("./src/../a.c", "a.c", True),
        ("src\\win\\a.c", "src/win/a.c", True),
        ("file:///workspace/app/a%20b.c", "a b.c", True),
        ("/workspace/application/a.c", "/workspace/application/a.c", False),
        ("../a.c", "../a.c", False),
        ("C:\\x\\a.c", "C:/x/a.c", False),
        ("", "", False),
    ],
)
def test_paths_are_relative_to_the_workspace(path: str, relative: str, is_inside: bool) -> None:
    assert (W.relative(path), W.holds(path)) == (relative, is_inside)
