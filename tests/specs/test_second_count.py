"""Nothing of real specs vanishes silently: a second count, which knows nothing of the readers, misses nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.specs.reader import read_specs
from tests.specs.second_count import count, lost

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "specs"
PLACES = [path.name for path in DATA.iterdir() if path.is_dir()] if DATA.is_dir() else []


@pytest.mark.skipif(not PLACES, reason="the real specs are not at hand")
@pytest.mark.parametrize("place", PLACES)
def test_everything_that_obliges_and_every_box_is_read_or_said(place: str) -> None:
    specs, problems = read_specs(DATA / place, DATA)
    kept = [spec for spec in specs if not spec.is_withdrawn]
    assert [line for spec in kept for line in lost(spec, DATA, problems)] == []
    assert sum(count(DATA, spec) for spec in kept) > 0 or place.endswith("json")


def test_the_count_sees_what_a_reader_would_lose(tmp_path: Path) -> None:
    folder = tmp_path / "02_a"
    folder.mkdir()
    (folder / "requirements.md").write_text(
        "### 02-REQ-1: T\n\n1. [02-REQ-1.1] THE a SHALL b.\n\n## Notes\n\n"
        "1. THE lock MUST close every single evening.\n"
    )
    (folder / "tasks.md").write_text("- [ ] 1. Build\n\n## Overview\n\n- [ ] Paint every single door of the house\n")
    (spec,), problems = read_specs(tmp_path, tmp_path)
    places = ["02_a/requirements.md:7", "02_a/tasks.md:5"]
    assert [line.partition(" ")[0] for line in lost(spec, tmp_path, ())] == places
    assert [problem.where for problem in problems] == places
    assert [*lost(spec, tmp_path, problems)] == []
    assert count(tmp_path, spec) == 4
