"""What stands around mutmut: names, modules, reasons that go with the code. What lives is for `make mutants` to say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.mutants import REASONS, ROOT, copy_project, function_of, is_among, main, module_of, path_of, read_reasons


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("agent_fox.core.plan.blame.x__in_order__mutmut_2", "agent_fox.core.plan.blame._in_order"),
        ("agent_fox.core.formal.temporal.xǁReaderǁtake__mutmut_10", "agent_fox.core.formal.temporal.Reader.take"),
    ],
)
def test_a_mutant_is_called_after_its_function(name: str, function: str) -> None:
    assert function_of(name) == function


def test_each_reason_is_about_a_line_that_is_there() -> None:
    for mutant, reason in read_reasons(REASONS).items():
        module = module_of(mutant.function)
        lines = [line.strip() for line in (ROOT / path_of(module)).read_text(encoding="utf-8").splitlines()]
        assert mutant.was in lines, f"{mutant.function} has no line {mutant.was!r} any more"
        assert mutant.was != mutant.becomes
        assert reason
        assert (is_among(mutant, []), is_among(mutant, [module]), is_among(mutant, ["other"])) == (True, True, False)


def test_a_module_that_the_core_does_not_have_is_named_before_anything_runs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["waivers", "no_such"])
    assert caught.value.code == 2
    assert "the core has no module no_such" in capsys.readouterr().err


def test_what_the_core_s_tests_read_is_copied_with_them(tmp_path: Path) -> None:
    copy_project(tmp_path / "copy", [])
    collecting = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "tests/core"]
    done = subprocess.run(collecting, cwd=tmp_path / "copy", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
