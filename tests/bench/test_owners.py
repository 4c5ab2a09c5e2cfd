"""Owners that are found beside those that were read by hand, where the specs are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.owners import SHARED, Score, scores, truths

HERE = SHARED / "shared" / "data" / "specs"


def test_the_truth_names_forty_requirements_of_each_dialect_each_once() -> None:
    counts: dict[str, int] = {}
    for truth in truths():
        counts[truth.dialect] = counts.get(truth.dialect, 0) + len(truth.owners)
        assert set(truth.unsure) <= set(truth.owners)
        assert truth.source.startswith("shared/") or len(truth.commit) == 40
    assert counts == {"spec-kit": 40, "openspec": 39, "kiro": 40, "agent-fox": 40}
    assert len({(truth.source, truth.path) for truth in truths()}) == 32


@pytest.mark.skipif(not HERE.is_dir(), reason="no real specs beside this repository")
def test_of_our_own_specs_as_many_owners_are_right_as_were_measured() -> None:
    found, missing = scores(Path("nowhere"))
    assert len(missing) > 0
    score = found["agent-fox"]
    assert (score.asked, score.found, score.silent) == (40, 40, 0)
    assert score.right >= 34


def test_a_score_counts_silence_apart_from_what_is_wrong() -> None:
    score = Score(found=10, right=7, silent=1)
    assert (score.share, score.found - score.right - score.silent) == (0.7, 2)
