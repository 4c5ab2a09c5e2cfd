"""Results made by hand for tests of what is done with results. Nothing ran."""

from __future__ import annotations

from dataclasses import replace

from agent_fox.core.verdicts.verdict import Disposition
from agent_fox.verifier.ground.results import (
    Artifact,
    ArtifactKind,
    Disposed,
    Failure,
    FailureKind,
    Scope,
    Status,
    TestSummary,
    Tool,
    VerificationResult,
)
from agent_fox.verifier.reporting.report import Step, StepOutcome

LOG = Artifact(ArtifactKind.LOG, "001-run_unit_tests.log", "artifact://run-1/1/001-run_unit_tests.log", 120, "ab" * 32)


def failing_test(
    name: str = "tests/test_cart.py::test_total", message: str = "assert 3 == 4", line: int = 7
) -> Failure:
    return Failure(
        FailureKind.TEST_FAILURE,
        message,
        file=name.partition("::")[0],
        line=line,
        test_name=name,
        evidence=f"E   {message}",
    )


def compile_error(file: str = "src/cart.py", message: str = "invalid syntax", line: int = 3) -> Failure:
    return Failure(FailureKind.COMPILE_ERROR, message, file=file, line=line)


def result(tool: Tool = Tool.UNIT_TESTS, status: Status = Status.PASSED, *failures: Failure) -> VerificationResult:
    return VerificationResult(
        tool,
        status,
        "python",
        ("pytest", "-q"),
        f"{tool} {status}",
        exit_code=0 if status is Status.PASSED else 1,
        seconds=1.5,
        failures=failures,
        dispositions=tuple(Disposed(Disposition.REPAIRABLE, "it repeats", repairable_by_agent=True) for _ in failures),
        artifacts=(LOG,),
        isolation="bubblewrap, no network",
    )


def counted(made: VerificationResult, counts: TestSummary, scope: Scope = Scope.FULL) -> VerificationResult:
    return replace(made, test_summary=counts, scope=scope)


def outcome(made: VerificationResult, *, required: bool = True) -> StepOutcome:
    return StepOutcome(Step(made.tool, required), made)
