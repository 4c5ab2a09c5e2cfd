"""What a parser passes over changes nothing: it finds the same where it takes each line."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_fox.verifier.ground.results import Parsed
from agent_fox.verifier.logs.c_build import CBuildReader
from agent_fox.verifier.logs.decode import Lines
from agent_fox.verifier.logs.go.events import GO_JSON
from agent_fox.verifier.logs.go.tests import GoReader
from agent_fox.verifier.logs.javascript.tap import TAP
from agent_fox.verifier.logs.jvm.gradle import GradleReader
from agent_fox.verifier.logs.jvm.maven import MavenReader
from agent_fox.verifier.logs.parsers import LineReader, read_block
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.row_reader import built_in
from tests.verifier.logs.at_hand import DATA, workspace


@dataclass(frozen=True)
class Sample:
    """A tool, the reader of its logs, files with real ones, and what else such logs hold; `@` is a small number."""

    tool: str
    reader: Callable[[Workspace], LineReader]
    files: str
    made: tuple[str, ...]


GO_JSON_EVENT = '{"Time":"2026-01-01T00:00:00Z","Action":"%s","Package":"example.com/a","Test":"Test%s"%s}\n'
SAMPLES = (
    Sample(
        "maven",
        MavenReader,
        "maven/*.txt",
        (
            "[INFO] Running a.B@Test\n",
            "said by a test\n",
            "12:00 [main] INFO a.B - Running late <<< [x] T] R\n",
            "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.1 s -- in a.B@Test\n",
            "Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! -- in a.B@Test\n",
            "[INFO] Running a.B@Test\nsaid\n"
            "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.1 s -- in a.B@Test\n",
            "[ERROR] Failed to execute goal a.b:surefire:1:test on project p: There are test failures.\n",
            "[ERROR] /workspace/src/A.java:[3,5] cannot find symbol\n",
        ),
    ),
    Sample(
        "gradle",
        GradleReader,
        "gradle/*.txt",
        (
            "a.B@Test > works() PASSED\n",
            "a.B@Test > works() > deep [@] FAILED\n    java.lang.AssertionError at B@Test.java:@\n",
            "a.B@Test > works() STANDARD_OUT\n    said: by. a test\n    in A.java:3: error: printed\n\n",
            "/workspace/src/A.java:3: error: cannot find symbol\n    x.y();\n     ^\n",
            "* What went wrong:\n",
            "> Task :test\n",
        ),
    ),
    Sample(
        "go",
        GoReader,
        "go/*.txt",
        (
            "=== RUN   TestA@\n",
            "    a_test.go:1: log\n",
            "        more - of --- it\n",
            "--- PASS: TestA@ (0.00s)\n",
            "--- FAIL: TestA@ (0.00s)\n",
            "=== RUN   TestB@\n    a_test.go:2: got @\n--- PASS: TestB@ (0.00s)\n",
            "=== RUN   TestB@\n    b_test.go:2: wrong\n--- FAIL: TestB@ (0.00s)\n",
            "=== RUN   TestC@\n=== RUN   TestC@/x\n--- PASS: TestC@ (0.00s)\n    --- PASS: TestC@/x (0.00s)\n",
            "ok  \texample.com/p@\t0.1s\n",
            "FAIL\texample.com/p@\t0.1s\n",
            "panic: x\n",
        ),
    ),
    Sample(
        "gcc",
        CBuildReader,
        "c_build/*.txt",
        (
            "gcc -Wall -c -o build/a@.o src/a@.c\n",
            "[ 4@%] Building C object lib/CMakeFiles/a.dir/b@.c.o\n",
            "[ 4@%] Building CXX object x.cpp.o: said\n",
            "make[@]: Entering directory '/workspace/lib'\n",
            "src/a@.c: In function 'f':\n",
            "src/a@.c:3:@: error: 'x' undeclared\n    3 |   x;\n      |   ^\n",
            "a@.c:(.text+0x5): undefined reference to `g'\n",
            "b@.c:7: undefined reference to `h'\ncollect2: error: ld returned 1 exit status\n",
        ),
    ),
    Sample(
        "go as JSON",
        GO_JSON.reader,
        "structured/go*.json",
        (
            GO_JSON_EVENT % ("run", "A@", ""),
            GO_JSON_EVENT % ("output", "A@", ',"Output":"    a_test.go:3: got \\"1\\"\\n"'),
            GO_JSON_EVENT % ("pass", "A@", ',"Elapsed":0.01'),
            GO_JSON_EVENT % ("fail", "A@", ""),
            GO_JSON_EVENT % ("run", "A@/x", "") + GO_JSON_EVENT % ("pass", "A@/x", ""),
            '{"Action":"fail","Package":"example.com/a"}\n',
            "a/a.go:3:5: undefined: x\n",
        ),
    ),
    Sample(
        "eslint",
        built_in("eslint").reader,
        "eslint/*.txt",
        (
            "/workspace/src/a@.js\n",
            "  1:@  error  'x' is unused  no-unused-vars\n",
            "  2:@  warning  'x' is unused  no-unused-vars\n",
            "src/b.js: line 3, col @, Error - no (semi)\n",
            "src/c.js(1,@): error semi : no\n",
            "Oops! Something went wrong! :(\n",
            "\n",
        ),
    ),
    Sample(
        "pytest",
        built_in("pytest").reader,
        "pytest/*.txt",
        (
            "============================= test session starts ==============================\n",
            "tests/test_a.py::test_@ PASSED                                   [  5%]\n",
            "tests/test_a.py::test_@[ERROR - x] PASSED\n",
            "tests/test_a.py::test_@ FAILED                                   [ 10%]\n",
            "tests/test_a.py::test_@ \n",
            "=================================== FAILURES ===================================\n",
            "________________________________ test_@ ________________________________\n",
            ">       assert False\nE       assert False\n\ntests/test_a.py:@: AssertionError\n",
            "=========================== short test summary info ============================\n",
            "FAILED tests/test_a.py::test_@ - assert False\n",
            "error: unrecognized PASSED\n",
            "ImportError while loading conftest '/workspace/conftest.py'.\n",
            "========================= 1 failed, @ passed in 0.12s ==========================\n",
        ),
    ),
    Sample(
        "unittest",
        built_in("unittest").reader,
        "unittest/*.txt",
        (
            "test_@ (tests.T.test_@) ... ok\n",
            "test_@ (tests.T.test_@) ... FAIL\n",
            "test_@ (tests.T.test_@) ... \n",
            "=" * 70 + "\n",
            "-" * 70 + "\n",
            "FAIL: test_@ (tests.T.test_@) ... ok\n",
            'Traceback (most recent call last):\n  File "/workspace/t.py", line 3, in f\nAssertionError: no\n',
            "Ran @ tests in 0.1s\n",
            "\nFAILED (failures=@)\n",
        ),
    ),
    Sample(
        "tap",
        TAP.reader,
        "**/*.tap",
        (
            "ok @ - a test\n",
            "not ok @ - a test\n",
            "# Subtest: a test\n",
            "    # Subtest: below\n    ok @ - below\n      ---\n      x: 1\n      ...\n",
            "    not ok @ - below\n      ---\n      error: 'no'\n      ...\n",
            "# Subtest: a\nok @ - a\n  ---\n  x: ...\n  ...\n",
            "  ---\n",
            "  ...\n",
            "# said\n",
            "1..@\n",
            "ok @ - braced {\n",
            "}\n",
        ),
    ),
)  # fmt: skip


def taken(sample: Sample, log: str) -> Parsed:
    reader = sample.reader(workspace())
    for line in log.split("\n")[:-1]:
        reader.take(line)
    return reader.parsed()


def in_blocks(sample: Sample, log: str, size: int) -> Parsed:
    """Read in blocks of `size` lines."""
    reader, rows = sample.reader(workspace()), log.splitlines(keepends=True)
    for at in range(0, len(rows), size):
        read_block("".join(rows[at : at + size]), reader)
    return reader.parsed()


def made_pieces(sample: Sample) -> list[str]:
    return [piece.replace("@", str(number)) for piece in sample.made for number in range(2)]


def real_pieces(sample: Sample) -> list[str]:
    """Some lines of real logs."""
    return [
        "".join(f"{line}\n" for line in rows[at : at + 6])
        for path in sorted(DATA.parent.glob(sample.files))
        for rows in [list(Lines(io.BytesIO(path.read_bytes())))]
        for at in range(0, min(len(rows), 300), 6)
    ]


def logs(sample: Sample) -> st.SearchStrategy[str]:
    made, real = st.sampled_from(made_pieces(sample)), st.sampled_from(real_pieces(sample))
    return (st.lists(made, max_size=12) | st.lists(made | real, max_size=30)).map("".join)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.tool)
def test_what_is_passed_over_changes_nothing(sample: Sample) -> None:
    @settings(max_examples=400, deadline=None)
    @given(logs(sample), st.integers(1, 40))
    def holds(log: str, size: int) -> None:
        assert in_blocks(sample, log, size) == taken(sample, log)

    holds()


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.tool)
def test_real_logs_say_the_same_in_blocks_and_in_lines(sample: Sample) -> None:
    paths = sorted(DATA.parent.glob(sample.files))
    assert paths
    for path in paths:
        log = "".join(f"{line}\n" for line in Lines(io.BytesIO(path.read_bytes())))
        assert in_blocks(sample, log, 10_000) == taken(sample, log)


def test_a_go_test_that_passes_after_one_of_its_name_never_ended_is_read_line_by_line() -> None:
    log = (
        "=== RUN   TestA1\nexit status 3\nFAIL\texample.com/lw/sub\t0.003s\nFAIL\n"
        "=== RUN   TestA1\n--- PASS: TestA1 (0.00s)\n--- PASS: TestA1 (0.00s)\n"
    )
    (go,) = (sample for sample in SAMPLES if sample.tool == "go")
    assert in_blocks(go, log, 2) == taken(go, log)
