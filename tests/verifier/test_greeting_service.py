"""A migration gone wrong and put right: a parameter changes, a call site breaks, and a second attempt repairs it.

The story is the same in both languages; in Java the compiler finds the call site, in Python a test does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.verdicts.verdict import Disposition
from agent_fox.verifier.ground.request import Request
from agent_fox.verifier.ground.results import FailureKind, Status, Tool
from agent_fox.verifier.plans.carried_out import PlanRun
from agent_fox.verifier.plans.steps import Plan
from agent_fox.verifier.plans.toolbox import Verifier
from agent_fox.verifier.reporting.projection import as_xml
from agent_fox.verifier.reporting.report import ReportStatus, Step, VerificationReport
from tests.verifier.made_projects import committed, verifier, write
from tests.verifier.profiles.projects import POM, needs

PLAN = Plan("greeting", (Step(Tool.UNIT_TESTS),), "asked for")

JAVA_TEST = """\
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class GreetingServiceTest {
    @Test
    void greetsByName() {
        GreetingService service = new GreetingService();

        assertEquals("Hello Ada", service.greet("Ada"));
    }
}
"""
JAVA = {
    "pom.xml": POM.format(name="greeting", more=""),
    "src/main/java/GreetingService.java": (
        "public final class GreetingService {\n"
        "    public String greet(String name) {\n"
        '        return "Hello " + name;\n'
        "    }\n}\n"
    ),
    "src/test/java/GreetingServiceTest.java": JAVA_TEST,
}
JAVA_MIGRATED = {
    "src/main/java/User.java": "public record User(String name) { }\n",
    "src/main/java/GreetingService.java": JAVA["src/main/java/GreetingService.java"]
    .replace("String name", "User user")
    .replace("+ name", "+ user.name()"),
}
JAVA_REPAIRED = {
    "src/test/java/GreetingServiceTest.java": JAVA_TEST.replace('greet("Ada")', 'greet(new User("Ada"))'),
}

PYTHON_TEST = """\
from greeting import GreetingService


def test_greets_by_name() -> None:
    service = GreetingService()

    assert service.greet("Ada") == "Hello Ada"
"""
PYTHON = {
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    "greeting.py": ("class GreetingService:\n    def greet(self, name: str) -> str:\n        return f'Hello {name}'\n"),
    "tests/test_greeting.py": PYTHON_TEST,
}
PYTHON_MIGRATED = {
    "user.py": "class User:\n    def __init__(self, name: str) -> None:\n        self.name = name\n",
    "greeting.py": (
        "from user import User\n\n\n"
        "class GreetingService:\n    def greet(self, user: User) -> str:\n        return f'Hello {user.name}'\n"
    ),
}
PYTHON_REPAIRED = {
    "tests/test_greeting.py": PYTHON_TEST.replace('greet("Ada")', 'greet(User("Ada"))').replace(
        "import GreetingService\n", "import GreetingService\nfrom user import User\n"
    )
}


def attempt(root: Path, profile: str, number: int, edits: Mapping[str, str]) -> tuple[Verifier, VerificationReport]:
    """What the platform does after each of a coder's attempts: verify, and keep the report."""
    write(root, edits)
    tools = verifier(root, profile, attempt=number)
    report = PlanRun(tools, PLAN).report()
    tools.keep(report)
    return tools, report


@pytest.mark.slow
def test_in_java_the_call_site_is_named_and_its_repair_passes(bare: Path) -> None:
    needs("mvn", "javac")
    committed(bare, JAVA)
    _, first = attempt(bare, "java-maven", 1, JAVA_MIGRATED)
    if first.blocking and first.blocking[0].failure.kind is FailureKind.DEPENDENCY_RESOLUTION_FAILURE:
        pytest.skip("Maven's local repository has not the plugins that the test project names")
    result = first.outcomes[0].result
    failure = result.failures[0]
    assert (result.status, failure.kind) == (Status.FAILED, FailureKind.COMPILE_ERROR)
    assert (failure.file, failure.line) == ("src/test/java/GreetingServiceTest.java", 10)
    assert failure.message.startswith("incompatible types: ")
    assert "String cannot be converted to User" in failure.message
    assert result.repairable_by_agent
    tools, second = attempt(bare, "java-maven", 2, JAVA_REPAIRED)
    assert second.status is ReportStatus.PASSED
    assert statuses(tools, 1) == [Status.FAILED]
    assert statuses(tools, 2) == [Status.PASSED]


def test_in_python_the_failing_test_is_named_and_its_repair_passes(bare: Path) -> None:
    committed(bare, PYTHON)
    _, first = attempt(bare, "python", 1, PYTHON_MIGRATED)
    tests = first.outcomes[0].result
    (failure,) = tests.failures
    assert (tests.status, failure.kind) == (Status.FAILED, FailureKind.TEST_FAILURE)
    assert failure.test_name == "tests/test_greeting.py::test_greets_by_name"
    assert failure.file in ("greeting.py", "tests/test_greeting.py")
    assert "'str' object has no attribute 'name'" in failure.message
    assert tests.dispositions[0].disposition is Disposition.REPAIRABLE
    tools, second = attempt(bare, "python", 2, PYTHON_REPAIRED)
    assert second.status is ReportStatus.PASSED
    assert statuses(tools, 1) == [Status.FAILED]
    assert statuses(tools, 2) == [Status.PASSED]


def test_what_the_coder_is_shown_of_the_first_attempt_is_enough_to_find_the_place(bare: Path) -> None:
    committed(bare, {**PYTHON, **PYTHON_MIGRATED})
    shown = as_xml(verifier(bare).run(Request(Tool.UNIT_TESTS)))
    assert "test: tests/test_greeting.py::test_greets_by_name" in shown
    assert "'str' object has no attribute 'name'" in shown
    assert str(bare) not in shown


def statuses(tools: Verifier, number: int) -> list[Status]:
    """The steps of the report that was kept of an attempt, as anybody reads it later."""
    report = Verifier(replace(tools.context, attempt=9)).report(attempt=number)
    assert report is not None
    assert report.attempt == number
    return [outcome.result.status for outcome in report.outcomes]
