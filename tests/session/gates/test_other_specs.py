"""Work that changes what another spec's work made: told, or refused, by the trailers of landed commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.session.order import EndKind, SessionEnd, StopSignal, Unmerged
from agent_fox.session.session_lifecycle import run_session
from tests.session.world import make_order, never_told, sh, shell, write


@pytest.fixture
def repo(repo: Path) -> Path:
    """`lib/b.py` was made by 02_b and `lib/a.py` by 01_app; `lib/both.py` by 02_b, then a person changed it."""
    land(repo, "02_b:1", "lib/b.py", "lib/both.py", "lib/s p ä.py")
    land(repo, "01_app:2", "lib/a.py")
    land(repo, "", "lib/both.py")
    return repo


def land(repo: Path, node: str, *paths: str) -> None:
    write(repo, {path: f"# {node or 'a person'}\n" for path in paths})
    sh(repo, "git", "add", "-A")
    sh(repo, "git", "commit", "-qm", f"work\n\nAgent-Fox-Node: {node}\n" if node else "by hand")


def run(repo: Path, script: str, other_specs: str = "note", **more: object) -> SessionEnd:
    order = make_order(repo, agent=shell(script), other_specs=other_specs, **more)
    return run_session(order, never_told, StopSignal())


CHANGES = "echo 'x = 1' >> lib/b.py; rm 'lib/s p ä.py'; echo 'x = 1' >> lib/a.py; echo 'x = 1' >> lib/both.py"


def test_files_of_another_spec_are_told_and_the_work_counts(repo: Path) -> None:
    end = run(repo, CHANGES)
    assert (end.kind, end.notes[-1]) == (EndKind.ENDED, "changes files of 02_b: lib/b.py, lib/s p ä.py")
    assert end.notes[-1] in end.summary


def test_they_are_refused_where_the_settings_say_so(repo: Path) -> None:
    end = run(repo, CHANGES, "refuse")
    assert (end.kind, end.work) == (EndKind.REFUSED, None)
    assert end.reason == "refused by policy ([policy] other_specs): changes files of 02_b: lib/b.py, lib/s p ä.py"


@pytest.mark.parametrize(
    "script", ["echo 'x = 1' >> lib/a.py", "echo 'x = 1' >> lib/both.py", "echo new > lib/c.py", "true"]
)
def test_ones_own_files_those_of_a_person_and_new_ones_are_free(repo: Path, script: str) -> None:
    assert run(repo, script, "refuse").kind is EndKind.ENDED


def test_files_in_conflict_are_free_in_the_session_that_merges_them(repo: Path) -> None:
    pinned = sh(repo, "git", "rev-parse", "HEAD")
    unmerged = Unmerged(pinned, ("lib/b.py",))
    end = run(repo, "echo 'x = 1' >> lib/b.py", "refuse", unmerged=unmerged)
    assert end.kind is EndKind.ENDED, end.reason
