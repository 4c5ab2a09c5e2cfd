"""Tests that write a file which git holds, where that is read-only: in a real sandbox, which keeps root, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.core.verdicts.verdict import Disposition, Verdict, Word
from agent_fox.system.sandbox.bubblewrap import SandboxMode, why_missing
from agent_fox.testing.worlds import new_repository
from agent_fox.verifier.ground.order import CheckOrder, Counterfactual
from agent_fox.verifier.judging.checks import run_checks
from agent_fox.verifier.proof.unwritable import REMEDY
from tests.verifier.proof.test_stage import put, sh

pytestmark = pytest.mark.skipif(bool(why_missing()), reason=why_missing() or "has a sandbox")

SAVES = """
from pathlib import Path

OUT = Path(__file__).parent / "out" / "rows.csv"


def test_01_REQ_1_1_lines():
    OUT.write_text({written})
    assert OUT.read_text() == "tea,2"
"""
OTHER = """
import os
import pytest


def test_01_REQ_1_1_lines():
    os.open("/proc/sysrq-trigger", os.O_WRONLY)
"""


def judged(root: Path, committed: str, written: str | None = None, counterfactual: str = "require") -> Verdict:
    (verdict,) = judged_all(root, committed, ["01-REQ-1.1"], written, counterfactual)
    return verdict


def judged_all(
    root: Path, committed: str, ids: list[str], written: str | None = None, counterfactual: str = "require"
) -> list[Verdict]:
    root.mkdir()
    new_repository(root)
    put(root, {"tests/test_rows.py": committed, "tests/out/rows.csv": "old,0"})
    sh(root, "add", "-A")
    sh(root, "commit", "-qm", "as the person committed it")
    base = sh(root, "rev-parse", "HEAD")
    put(root, {"rows.py": "ROWS = 2\n", **({"tests/test_rows.py": written} if written else {})})
    for path in (root / "tests").rglob("*.*"):
        path.chmod(0o444)
    order = CheckOrder(
        dict.fromkeys(ids, "WHEN given rows, `save` SHALL write them."), str(root),
        commands={"Spec tests": "python -m pytest tests"}, repository=str(root), base_commit=base,
        counterfactual=Counterfactual(counterfactual), sandbox=SandboxMode.REQUIRE,
    )  # fmt: skip
    return run_checks(order).verdicts


@pytest.mark.parametrize("counterfactual", ["require", "off"])
def test_a_committed_test_that_may_not_write_is_unknown_and_names_the_file(tmp_path: Path, counterfactual: str) -> None:
    verdict = judged(tmp_path / "repo", SAVES.format(written='"tea,2"'), counterfactual=counterfactual)
    assert (verdict.word, verdict.disposition, verdict.needs_person) == (Word.UNKNOWN, Disposition.ENVIRONMENT, True)
    assert "passes only where tests/out/rows.csv may be written" in verdict.evidence
    assert REMEDY in verdict.evidence


def test_a_test_of_this_plan_goes_back_to_its_coder_with_the_remedy(tmp_path: Path) -> None:
    mine = SAVES.format(written='"tea,2"')
    verdict = judged(tmp_path / "repo", SAVES.format(written='"tea,1"'), mine)
    assert (verdict.word, verdict.needs_person) == (Word.FAIL, False)
    assert "passes only where tests/out/rows.csv may be written" in verdict.evidence


def test_what_fails_where_it_may_write_too_fails(tmp_path: Path) -> None:
    verdict = judged(tmp_path / "repo", SAVES.format(written='"tea,1"'))
    assert (verdict.word, REMEDY in verdict.evidence) == (Word.FAIL, False)


def test_another_place_that_may_not_be_written_excuses_nothing(tmp_path: Path) -> None:
    verdict = judged(tmp_path / "repo", OTHER)
    assert (verdict.word, REMEDY in verdict.evidence) == (Word.FAIL, False)


def test_of_many_requirements_each_is_excused_that_passes_where_it_may_write(tmp_path: Path) -> None:
    ids = [f"01-REQ-1.{number}" for number in range(1, 13)]
    test = SAVES.partition("def test")[0] + "".join(
        f"\n\ndef test_{id.replace('-', '_').replace('.', '_')}():\n"
        f'    OUT.write_text("tea,2")\n    assert OUT.read_text() == "tea,{3 if id == ids[-1] else 2}"\n'
        for id in ids
    )
    words = [verdict.word for verdict in judged_all(tmp_path / "repo", test, ids)]
    assert words == [Word.UNKNOWN] * 11 + [Word.FAIL]
