"""A coder's work that is too large is refused by its files' sizes, before any of it is read or stored."""

from __future__ import annotations

import time
from pathlib import Path

from agent_fox.session.order import EndKind, Provisions, SessionEnd, Sizes, StopSignal
from agent_fox.session.session_lifecycle import run_session
from tests.session.world import LAUNCH, make_order, never_told, sh, shell

MIB = 1024**2
SMALL = Sizes(file=MIB, change=3 * MIB)


def run(repo: Path, script: str, sizes: Sizes = SMALL, launch: str = LAUNCH, **more: object) -> SessionEnd:
    return run_session(
        make_order(repo, agent=shell(script), sizes=sizes, launch=launch, **more), never_told, StopSignal()
    )


def objects(repo: Path) -> int:
    """Kibibytes in the person's object store."""
    return int(sh(repo, "du", "-sk", ".git/objects").split()[0])


def test_half_a_gibibyte_is_refused_at_once_with_file_and_size_whether_committed_or_not(repo: Path) -> None:
    before = objects(repo)
    for number, script in enumerate(("true", "git add huge.bin; git -c core.bigFileThreshold=1m commit -qm huge")):
        begun = time.monotonic()
        end = run(repo, f"truncate -s 500M huge.bin; {script}", Sizes(), f"{LAUNCH}-{number}")
        assert (end.kind, end.work) == (EndKind.REFUSED, None)
        assert "a file may have 50.0 MiB" in end.reason
        assert "huge.bin (500.0 MiB)" in end.reason
        assert time.monotonic() - begun < 60
    assert objects(repo) < before + 100


def test_many_files_that_are_too_much_together_are_refused(repo: Path) -> None:
    end = run(repo, "for n in 1 2 3 4 5; do truncate -s 900K file$n; done")
    assert end.kind is EndKind.REFUSED
    assert end.reason.startswith("adds 4.4 MiB, where a change may add 3.0 MiB; the largest: file1 (0.9 MiB), ")
    assert end.reason.endswith("and 2 more")


def test_a_large_file_that_was_there_before_may_stay_and_go_but_not_grow(repo: Path) -> None:
    sh(repo, "truncate", "-s", "2M", "asset.bin")
    sh(repo, "git", "add", "-A")
    sh(repo, "git", "commit", "-qm", "asset")
    assert run(repo, "echo x > new.txt").kind is EndKind.ENDED
    assert run(repo, "rm asset.bin", launch="sizes-two").kind is EndKind.ENDED
    grown = run(repo, "truncate -s 2100K asset.bin", launch="sizes-three")
    assert (grown.kind, "asset.bin (2.1 MiB)" in grown.reason) == (EndKind.REFUSED, True)


def test_what_is_ignored_or_was_brought_in_or_made_by_setup_does_not_count(repo: Path) -> None:
    sh(repo, "truncate", "-s", "2M", "large.env")
    setup = Provisions(setup=("truncate -s 2M made.bin",), copy=("large.env",))
    end = run(repo, "truncate -s 2M a.log; echo x > new.txt", workspace=setup)
    assert end.kind is EndKind.ENDED, end.reason


def test_a_link_to_something_large_is_small(repo: Path) -> None:
    huge = repo.parent / "huge"
    sh(repo, "truncate", "-s", "100M", str(huge))
    assert run(repo, f"ln -s {huge} link").kind is EndKind.ENDED
