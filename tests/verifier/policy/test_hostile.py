"""Files that nobody should have written: the check says UNKNOWN in bounded time, and never raises."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from agent_fox.verifier.policy.check import check_change
from agent_fox.verifier.policy.values import Change, FileChange, PolicyContext, Ruling

LONGEST = 10.0  # seconds for one file, on a busy machine

PATHS = ("tests/test_a.py", "test/a.test.js", "test/a.test.ts", "src/test/java/ATest.java", "a_test.go", "tests/a.rs")
GOOD = {
    "tests/test_a.py": b"def test_a():\n    assert f() == 1\n",
    "test/a.test.js": b"it('a', () => { expect(f()).toBe(1); });\n",
    "test/a.test.ts": b"it('a', () => { expect(f()).toBe(1); });\n",
    "src/test/java/ATest.java": b"class ATest { @Test void a() { assertEquals(1, f()); } }\n",
    "a_test.go": b'package a\n\nfunc TestA(t *testing.T) {\n\tif f() != 1 {\n\t\tt.Error("f")\n\t}\n}\n',
    "tests/a.rs": b"#[test]\nfn a() {\n    assert_eq!(f(), 1);\n}\n",
}
HOSTILE = {
    "brackets without end": b"(" * 100_000,
    "brackets in brackets": b"x = " + b"(" * 5_000 + b"1" + b")" * 5_000 + b"\n",
    "five megabytes": b"x = 1\n" * 900_000,
    "no UTF-8": b"\xff\xfe\x00x = 1\n" * 10,
    "a syntax error": b"def class if (:\n",
    "null bytes": b"x = 1\n\x00\n",
    "an error without a node of its own": b"package a\nTest(testing.T) {\n\tx := f()\n\tif x != 3 {\n"
    b"\t\tt.Error(x)\n\t}\n}\n",
}

pytest.importorskip("tree_sitter", reason="the extra `policy` is not installed")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_file_that_cannot_be_read_is_unknown_or_stopped(path: str, kind: str) -> None:
    started = time.monotonic()
    report = check_change(Change({path: FileChange(GOOD[path], HOSTILE[kind])}), PolicyContext())
    assert report.verdict in (Ruling.UNKNOWN, Ruling.BLOCKED)
    assert time.monotonic() - started < LONGEST


@pytest.mark.parametrize("path", PATHS)
def test_an_unreadable_side_before_is_unknown_too(path: str) -> None:
    report = check_change(Change({path: FileChange(b"\xff\xfe", GOOD[path])}), PolicyContext())
    assert report.verdict is Ruling.UNKNOWN
    assert report.unreadable == (path,)


@pytest.mark.parametrize("path", [*PATHS, "package.json", "pyproject.toml", "pom.xml"])
def test_a_file_without_either_side_is_no_change(path: str) -> None:
    assert check_change(Change({path: FileChange(None, None)}), PolicyContext()).verdict is Ruling.CLEAN


@pytest.mark.parametrize("path", PATHS)
def test_the_good_files_are_read(path: str) -> None:
    assert check_change(Change({path: FileChange(None, GOOD[path])}), PolicyContext()).verdict is Ruling.CLEAN
    assert check_change(Change({path: FileChange(GOOD[path], None)}), PolicyContext()).verdict is Ruling.BLOCKED


@pytest.mark.parametrize(
    ("path", "after"),
    [
        ("pyproject.toml", b"[tool.pytest"),
        ("package.json", b"{" * 5_000),
        ("tox.ini", b"addopts = -q\n"),
        ("tsconfig.json", b'{"compilerOptions": '),
    ],
)
def test_configuration_that_cannot_be_parsed_is_unknown(path: str, after: bytes) -> None:
    report = check_change(Change({path: FileChange(b"", after)}), PolicyContext())
    assert report.verdict is Ruling.UNKNOWN


@pytest.mark.parametrize(
    ("path", "ruling"),
    [
        ("package-lock.json", Ruling.CLEAN),
        ("web/pnpm-lock.yaml", Ruling.CLEAN),
        ("npm-shrinkwrap.json", Ruling.CLEAN),
        ("settings/jest.config.json", Ruling.UNKNOWN),
        ("ci.yaml", Ruling.UNKNOWN),
    ],
)
def test_a_large_lock_file_holds_no_settings_and_any_other_is_unknown(path: str, ruling: Ruling) -> None:
    after = b'{"a": "' + b"x" * 600_000 + b'"}'
    change = Change({path: FileChange(b"{}", after)})
    assert check_change(change, PolicyContext()).verdict is ruling


def test_helpers_that_call_each_other_without_end_are_cut_off() -> None:
    helpers = "".join(f"def check_{n}():\n" + "    check_all()\n" * 40 for n in range(20))
    everything = "def check_all():\n" + "".join(f"    check_{n}()\n" for n in range(20))
    text = f"{helpers}{everything}def test_a():\n    check_all()\n    assert f() == 1\n".encode()
    started = time.monotonic()
    report = check_change(Change({"tests/test_a.py": FileChange(text, text + b"\n")}), PolicyContext())
    assert report.verdict is Ruling.CLEAN
    assert time.monotonic() - started < LONGEST


def test_thousands_of_tests_and_assertions_take_bounded_time() -> None:
    def tests(value: int) -> bytes:
        return "".join(f"def test_{n}():\n    assert f({n}) == {n + value}\n" for n in range(1_000)).encode()

    many = "\n".join(f"    assert g({n}) == {n}" for n in range(600))
    before, after = tests(0) + f"def test_m():\n{many}\n".encode(), tests(1) + b"def test_m():\n    assert True\n"
    started = time.monotonic()
    report = check_change(Change({"tests/test_a.py": FileChange(before, after)}), PolicyContext())
    assert report.verdict is Ruling.BLOCKED
    assert time.monotonic() - started < LONGEST * 2


WITHOUT_THE_EXTRA = """
import sys
sys.modules["tree_sitter"] = None
from agent_fox.verifier.policy.check import check_change
from agent_fox.verifier.policy.values import Change, FileChange, PolicyContext
for path in ("tests/test_a.py", "test/a.test.js"):
    report = check_change(Change({path: FileChange(None, b"")}), PolicyContext())
    print(report.verdict, *(finding.message for finding in report.findings))
"""


def test_without_the_extra_other_languages_than_python_are_unknown() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_THE_EXTRA], capture_output=True, text=True, check=True)
    python, javascript = done.stdout.splitlines()
    assert python == "clean"
    assert javascript.startswith("unknown")
    assert "agent-fox[policy]" in javascript
