"""A failure is run again before it is believed: chance is excused only where the same tree proves it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from agent_fox.core.verdicts.answer import read_report
from agent_fox.core.verdicts.judgement import Judgement, judge
from agent_fox.core.verdicts.verdict import Disposition
from agent_fox.verifier.judging.checks import CheckReport, answer
from tests.verifier.made_projects import write
from tests.verifier.workspace import PYTEST, checked, words

ONE = "04-REQ-1.1"
TWO = "04-REQ-1.2"


def counting(place: Path, then: str) -> str:
    """A test that counts its runs in `place`, and fails as `then` says of `runs`."""
    return (
        "import pathlib\n"
        f"PLACE = pathlib.Path({str(place)!r})\n"
        "def test_04_req_1_1():\n"
        "    runs = int(PLACE.read_text()) + 1 if PLACE.exists() else 1\n"
        "    PLACE.write_text(str(runs))\n"
        f"    assert not ({then}), f'run {{runs}}'\n"
    )


def judgement(report: CheckReport) -> Judgement:
    """What the engine makes of the answer."""
    ids = tuple(verdict.requirement_id for verdict in report.verdicts)
    return judge(read_report(json.dumps(answer(report)), {id: () for id in ids}, trusted=True), ids).judgement


def outcomes(report: CheckReport) -> list[tuple[bool | None, ...]]:
    return [one.rerun.outcomes for run in report.runs for one in run.reruns]


def test_a_failure_whose_three_reruns_pass_is_proven_flaky_and_counts_as_passed(tmp_path: Path) -> None:
    report = checked(tmp_path / "tree", {"test_a.py": counting(tmp_path / "count", "runs == 1")}, ONE)
    verdict = report.verdicts[0]
    assert (verdict.disposition, verdict.is_proven) == (Disposition.FLAKY, True)
    assert outcomes(report) == [(True, True, True)]
    assert "passed 3 of 3 reruns on the same tree" in verdict.evidence
    assert "run 1" in verdict.evidence
    assert judgement(report) is Judgement.SOUND
    row = answer(report)["runs"][0]["reruns"][0]
    assert row == {"test": "test_a.py::test_04_req_1_1", "tree": "same", "passed": [True, True, True], "note": ""}


@pytest.mark.parametrize("then", ["runs in (1, 3)", "runs in (1, 4)"])
def test_one_rerun_that_fails_leaves_an_ordinary_failure(tmp_path: Path, then: str) -> None:
    report = checked(tmp_path / "tree", {"test_a.py": counting(tmp_path / "count", then)}, ONE)
    assert (report.verdicts[0].disposition, report.verdicts[0].is_proven) == (Disposition.REPAIRABLE, False)
    assert judgement(report) is Judgement.FAULTY


def test_a_failure_that_comes_again_at_once_is_run_again_only_once(tmp_path: Path) -> None:
    report = checked(tmp_path, {"test_a.py": "def test_04_req_1_1(): assert 0\n"}, ONE)
    assert outcomes(report) == [(False,)]
    assert "re-run once: failed again, so not flaky" in report.verdicts[0].evidence


def test_a_test_that_passes_only_alone_is_not_flaky(tmp_path: Path) -> None:
    tests = "STATE = []\ndef test_first(): STATE.append(1)\ndef test_04_req_1_1(): assert not STATE\n"
    report = checked(tmp_path, {"test_a.py": tests}, ONE)
    assert not report.verdicts[0].is_proven
    assert outcomes(report) == [(True, True, True)]
    assert "passes only alone" in report.verdicts[0].evidence


def test_a_test_that_a_file_of_the_first_run_helps_is_not_flaky(tmp_path: Path) -> None:
    report = checked(tmp_path, {"test_a.py": counting(tmp_path / "state.txt", "runs == 1")}, ONE)
    assert not report.verdicts[0].is_proven
    assert judgement(report) is Judgement.FAULTY
    assert "changed files that it may depend on: state.txt" in report.verdicts[0].evidence


def test_a_file_in_the_private_folder_helps_no_rerun(tmp_path: Path) -> None:
    tests = (
        "import os, pathlib\ndef test_04_req_1_1():\n"
        "    mark = pathlib.Path(os.environ['HOME'], 'mark')\n"
        "    was = mark.exists()\n    mark.touch()\n    assert was\n"
    )
    assert outcomes(checked(tmp_path, {"test_a.py": tests}, ONE)) == [(False,)]


def test_nothing_runs_again_where_all_pass_where_no_id_is_concerned_or_where_too_much_fails(tmp_path: Path) -> None:
    passing = checked(tmp_path / "a", {"test_a.py": "def test_04_req_1_1(): pass\ndef test_x(): assert 0\n"}, ONE)
    assert (words(passing), outcomes(passing)) == ({ONE: "PASS"}, [])
    many = "import pytest\n@pytest.mark.parametrize('n', range(6))\ndef test_04_req_1_1(n): assert 0\n"
    assert outcomes(checked(tmp_path / "b", {"test_a.py": many}, ONE)) == []


def test_a_pass_that_is_listed_as_flaky_is_run_again_and_one_failure_is_a_failure(tmp_path: Path) -> None:
    files = {"test_a.py": counting(tmp_path / "count", "runs == 3"), "test_b.py": "def test_04_req_1_2(): pass\n"}
    listed = ("test_a.py::test_04_req_1_1", "test_b.py::test_04_req_1_2")
    report = checked(tmp_path / "tree", files, ONE, TWO, flaky=listed)
    assert words(report) == {ONE: "FAIL", TWO: "PASS"}
    assert not report.verdicts[0].is_proven
    assert outcomes(report)[1] == (True, True, True)


def test_a_flaky_test_excuses_no_other_failure_of_its_requirement(tmp_path: Path) -> None:
    tests = counting(tmp_path / "count", "runs == 1") + "def test_04_req_1_1_too(): assert 0\n"
    report = checked(tmp_path / "tree", {"test_a.py": tests}, ONE)
    assert not report.verdicts[0].is_proven
    assert judgement(report) is Judgement.FAULTY


WHOLE = "def test_04_req_1_1(): pass\ndef test_whole():\n    '''04-REQ-1'''\n    assert 0\n"


def test_a_failure_that_the_base_tree_has_too_does_not_count_if_the_test_is_not_the_requirements_own(
    tmp_path: Path,
) -> None:
    base = write(tmp_path / "base", {"test_a.py": WHOLE.replace("test_04_req_1_1", "test_old")})
    report = checked(tmp_path / "tree", {"test_a.py": WHOLE}, ONE, base=str(base))
    verdict = report.verdicts[0]
    assert (verdict.disposition, verdict.is_proven) == (Disposition.PRE_EXISTING, True)
    assert "fails on the base tree too: test_a.py::test_whole" in verdict.evidence
    assert judgement(report) is Judgement.SOUND


@pytest.mark.parametrize("there", ["def test_whole(): pass\n", "", "def test_whole(:\n"])
def test_a_failure_that_the_base_tree_does_not_show_is_a_failure(tmp_path: Path, there: str) -> None:
    base = write(tmp_path / "base", {"test_a.py": there})
    report = checked(tmp_path / "tree", {"test_a.py": WHOLE}, ONE, base=str(base))
    assert not report.verdicts[0].is_proven
    assert judgement(report) is Judgement.FAULTY


def test_a_requirements_own_test_is_never_excused_by_the_base_tree(tmp_path: Path) -> None:
    files = {"test_a.py": "def test_04_req_1_1(): assert 0\n"}
    base = write(tmp_path / "base", files)
    report = checked(tmp_path / "tree", files, ONE, base=str(base))
    assert not report.verdicts[0].is_proven
    assert judgement(report) is Judgement.FAULTY


@pytest.mark.parametrize(("there", "is_excused"), [("import os\n", True), ("import sys\n", False), ("", False)])
def test_a_linter_is_excused_where_it_finds_the_same_on_the_base_tree(
    tmp_path: Path, there: str, is_excused: bool
) -> None:
    files = {"test_a.py": "def test_04_req_1_1(): pass\n", "shop.py": "import os\n"}
    base = write(tmp_path / "base", {"test_a.py": "", "shop.py": there})
    configured = (PYTEST, "python -m ruff check --isolated .")
    report = checked(tmp_path / "tree", files, ONE, configured=configured, base=str(base))
    assert report.verdicts[0].is_proven is is_excused
    assert judgement(report) is (Judgement.SOUND if is_excused else Judgement.FAULTY)


@pytest.mark.skipif(shutil.which("go") is None, reason="needs go")
def test_a_go_test_is_run_again_and_not_taken_from_a_cache(tmp_path: Path) -> None:
    tests = (
        'package a\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestReq04_1_1(t *testing.T) {\n'
        f'\tplace := "{tmp_path}/count"\n\tif _, err := os.Stat(place); err != nil {{\n'
        '\t\tos.WriteFile(place, nil, 0o600)\n\t\tt.Fatal("first")\n\t}\n}\n'
    )
    files = {"go.mod": "module example.com/shop\n\ngo 1.19\n", "a_test.go": tests}
    report = checked(tmp_path / "tree", files, ONE, commands={"Spec tests": "go test ./..."})
    assert (report.verdicts[0].disposition, report.verdicts[0].is_proven) == (Disposition.FLAKY, True)


def test_the_whole_log_of_a_command_is_kept_and_named_in_the_evidence(tmp_path: Path) -> None:
    tests = "def test_04_req_1_1():\n    print('said', 7 * 6)\n    assert 0\n"
    report = checked(
        tmp_path / "tree", {"test_a.py": tests}, ONE, artifacts=str(tmp_path / "kept"), run="r1", attempt=2
    )
    name = answer(report)["verdicts"][0]["artifact"]
    assert name.startswith("artifact://r1/2/")
    assert f"log: {name}" in report.verdicts[0].evidence
    kept = [path for path in (tmp_path / "kept").rglob("*") if path.is_file() and b"said 42" in path.read_bytes()]
    assert kept
