"""What a generated spec means is what is read from it, in every way to write it that the generator knows.

`FAULT_ROUNDS` asks for more of them.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from agent_fox.core.spec import Severity
from agent_fox.specs.places import find_places
from agent_fox.specs.plain.normal_form import normal_form
from agent_fox.specs.planner import plan_of
from agent_fox.specs.reader import read_specs
from tests.specs.made.forms import FORMS, differences, made_by, write
from tests.specs.plain.test_normal_form import bare

SEEDS = max(100, 10 * int(os.environ.get("FAULT_ROUNDS", "0")))
PRINTED = SEEDS // 4
EACH_FORM = pytest.mark.parametrize("form", FORMS)


def wrong(form: str, seed: int) -> list[str]:
    with TemporaryDirectory() as root:
        return differences(made_by(form, seed), Path(root))


@EACH_FORM
def test_a_generated_spec_is_read_as_it_was_meant(form: str) -> None:
    failed = {seed: lines for seed in range(SEEDS) if (lines := wrong(form, seed))}
    seed = min(failed, default=0)
    replay = f"{len(failed)} of {SEEDS} fail; see `python -m tests.specs.made {form} {seed}`"
    assert not failed, "\n".join([replay, *failed[seed]])


@EACH_FORM
def test_what_was_read_is_printed_and_read_back_as_it_was(form: str, tmp_path: Path) -> None:
    for seed in range(PRINTED):
        folder = tmp_path / str(seed)
        specs, _ = read_specs(write(made_by(form, seed), folder / "written").parent, folder / "written")
        (folder / "all.md").write_text(normal_form(specs), encoding="utf-8", newline="")
        again, problems = read_specs(folder / "all.md", folder)
        assert (seed, problems, bare(again), normal_form(again)) == (seed, (), bare(specs), normal_form(specs))
        assert bare(specs), seed


@EACH_FORM
def test_a_seed_makes_the_same_files_each_time(form: str) -> None:
    assert made_by(form, 7) == made_by(form, 7)


@EACH_FORM
def test_no_two_of_the_first_seeds_make_the_same_files(form: str) -> None:
    assert len({tuple(made_by(form, seed).files.values()) for seed in range(50)}) == 50


def test_specs_of_all_dialects_make_one_plan(tmp_path: Path) -> None:
    made = [made_by(form, seed) for seed, form in enumerate(FORMS, 100)]
    for one in made:
        write(one, tmp_path)
    plan = plan_of(*read_specs(find_places(tmp_path), tmp_path))
    assert {(spec.name, spec.dialect) for spec in plan.specs} == {(one.spec.name, one.dialect) for one in made}
    assert [problem for problem in plan.problems if problem.severity is Severity.ERROR and problem.spec is None] == []
