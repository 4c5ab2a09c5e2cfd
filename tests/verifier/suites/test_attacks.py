"""What code under test leaves where we look afterwards: links that lead out, pipes, devices in the place of files."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_fox.verifier.ground.cases import ReportUnreadable
from agent_fox.verifier.lanes.traces import TraceUnreadable, read_trace
from agent_fox.verifier.proof.expectations import digest_of, versions_shown
from agent_fox.verifier.proof.sides import with_inline_tests
from agent_fox.verifier.suites.calls import call_of
from agent_fox.verifier.suites.controls import with_controls
from agent_fox.verifier.suites.go_cases import read_go
from agent_fox.verifier.suites.junit import read_junit
from agent_fox.verifier.suites.suite_reading import read_jest

SECRET = "s3cr3t of the person"
KINDS = ("link", "pipe", "endless", "folder")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


def leave(place: Path, kind: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    match kind:
        case "link":
            place.symlink_to(place.anchor / Path(*place.parts[1 : place.parts.index("tree")]) / "secret")
        case "pipe":
            os.mkfifo(place)
        case "endless":
            place.symlink_to("/dev/zero")
        case "folder":
            place.mkdir()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("read", [read_junit, read_jest])
def test_what_is_no_file_is_no_report(root: Path, read: Callable[[Path, Path], object], kind: str) -> None:
    leave(root / "report", kind)
    with pytest.raises(ReportUnreadable) as refused:
        read(root / "report", root)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_is_no_trace(root: Path, kind: str) -> None:
    leave(root / "trace", kind)
    with pytest.raises(TraceUnreadable):
        read_trace(root / "trace")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("package.json", "npm test"),
        ("node_modules/jest/package.json", "npx jest"),
        ("jest.config.js", "jest"),
        ("vitest.config.ts", "vitest run"),
        ("node_modules/vitest/package.json", "vitest run"),
        ("a_test.go", "go test ./..."),
        ("deep/b_test.go", "go test ./..."),
    ],
)
def test_settings_that_are_no_files_are_none(root: Path, place: str, line: str, kind: str) -> None:
    leave(root / place, kind)
    call = call_of((*shlex.split(line),), root)
    if call is not None:
        with_controls(call, root.parent / "controls", root)
    assert not [path for path in (root.parent / "controls").rglob("*") if SECRET in path.read_text()]


@pytest.mark.parametrize("kind", KINDS)
def test_tests_of_go_in_what_is_no_file_have_no_place(root: Path, kind: str) -> None:
    leave(root / "go.mod", kind)
    leave(root / "a_test.go", kind)
    log = root.parent / "log"
    log.write_text('{"Action":"run","Package":"m","Test":"TestA"}\n{"Action":"pass","Package":"m","Test":"TestA"}\n')
    (case,) = read_go(log, root).cases
    assert (case.name, case.file) == ("TestA", "")


@pytest.mark.parametrize("kind", KINDS)
def test_a_test_that_became_a_link_shows_nothing_of_what_it_leads_to(root: Path, kind: str) -> None:
    """Both versions of a changed test stand in an issue, and in the next brief."""
    base = root.parent / "base"
    base.mkdir()
    (base / "test_a.py").write_text("assert 1 == 1\n")
    leave(root / "test_a.py", kind)
    assert versions_shown(["test_a.py"], base, root) == ("--- test_a.py\nassert 1 == 1", "--- test_a.py\n(not there)")
    assert digest_of(root, ["test_a.py"]) == digest_of(root, ["test_a.py"]) != digest_of(base, ["test_a.py"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_the_product_that_became_a_link_is_not_laid_out_for_others(root: Path, kind: str) -> None:
    base = root.parent / "base"
    (base / "src").mkdir(parents=True)
    (base / "src/lib.rs").write_text("#[cfg(test)]\nmod tests {}\n")
    leave(root / "src/lib.rs", kind)
    assert with_inline_tests(root, base, "src/lib.rs") is None
