"""Every call to the world outside that a run makes fails where it stands, once and for good.

The call sites are listed by the program itself while it runs, so that a new one is tried as soon as it is there.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from agent_fox.testing.worlds import run_cli
from tests.stories import faulty_sites
from tests.stories.test_faults_outside import STORY, end_state

SHARES = 8
RUN = ("run", "--parallel", "1")


class Calm(NamedTuple):
    """Where every node stands after a run that nothing was in the way of, and its call sites."""

    standings: list[tuple[object, ...]]
    sites: list[str]


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Calm:
    folder = tmp_path_factory.mktemp("calm")
    root = STORY.build(folder / "world")
    done = faulty_sites.run(root, *RUN, noted=str(folder / "sites"))
    assert done.returncode == 0, done
    return Calm(end_state(root), faulty_sites.sites(folder / "sites"))


def test_a_run_asks_the_world_at_many_places(calm: Calm) -> None:
    """Git, SQLite, programs, locks and files are all among them: the list is no empty one."""
    events = {site.partition(" ")[2] for site in calm.sites}
    assert events >= {"subprocess.Popen", "sqlite3.connect", "fcntl.flock", "open", "os.rename", "os.mkdir"}
    assert len(calm.sites) > 80


def wrong(folder: Path, calm: Calm, site: str, code: str, *, is_once: bool) -> str:
    """What is wrong with a run in which this call fails, and with the calm one after it; empty if nothing is.

    It may end as ever (0), refuse before anything was begun (1), or pause (4); what comes after it is as if nothing
    had been.
    """
    root = STORY.build(folder / "world")
    once = {"once": str(folder / "once")} if is_once else {}
    done = faulty_sites.run(root, *RUN, site=site, code=code, **once)
    where = f"{site} {code}: exit {done.returncode}: {done.stderr[-300:]}"
    if done.returncode not in (0, 1, 4) or "Traceback" in done.stderr or "internal error" in done.stderr:
        return where
    again = run_cli(root, *RUN)
    if again.returncode or end_state(root) != calm.standings:
        return f"{where} and then exit {again.returncode}: {again.stdout[-300:]} {again.stderr[-300:]}"
    return ""


@pytest.mark.parametrize("share", range(SHARES))
def test_a_failure_at_any_call_site_loses_nothing(tmp_path: Path, calm: Calm, share: int) -> None:
    """A disk that is full from then on, and one shortage of file handles that passes."""
    found = []
    for number, site in enumerate(calm.sites[share::SHARES]):
        for code, is_once in (("ENOSPC", False), ("EMFILE", True)):
            folder = tmp_path / f"{number}-{code}"
            folder.mkdir()
            found.append(wrong(folder, calm, site, code, is_once=is_once))
    assert [one for one in found if one] == []
