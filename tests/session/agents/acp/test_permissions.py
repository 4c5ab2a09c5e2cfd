"""What an agent that asks for permission is answered: by its role, what it says the call is, and what it offers."""

from __future__ import annotations

from pathlib import Path

import pytest
from acp.schema import PermissionOption
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.session.agents.acp.permissions import TABLE, Answer, answer, tool_of
from agent_fox.session.agents.task import AgentTask, Role
from tests.session.agents.tasks import task_in

ROOT = Path("/place")
CODER, VERIFIER, REVIEWER = Role.CODER, Role.VERIFIER, Role.REVIEWER
EVERY = ("allow_once", "allow_always", "reject_once", "reject_always")
KINDS = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other")
INSIDE = "/place/workspace/a.py"


def options(*kinds: str) -> list[PermissionOption]:
    return [PermissionOption(option_id=f"{kind}-id", name=kind, kind=kind) for kind in kinds]  # type: ignore[arg-type]


def task(role: Role) -> AgentTask:
    return task_in(ROOT, "acp", role=role, provider=None, readable=("/shown",))


def asked(role: Role, tool: str, *offered: str, places: tuple[str, ...] = (), **arguments: object) -> Answer:
    return answer(task(role), tool, arguments, places, options(*(offered or EVERY)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("role", Role)
def test_the_table_of_a_role_decides_and_what_is_in_no_row_is_refused(role: Role, kind: str) -> None:
    granted = {
        CODER: {"read", "search", "think", "edit", "delete", "move", "execute", "fetch"},
        VERIFIER: {"read", "search", "think"},
        REVIEWER: {"read", "search", "think"},
    }
    answered = asked(role, kind)
    expected = ("allow_once-id", "") if kind in granted[role] else ("reject_once-id", f"a {role} has no tool of ")
    assert (answered.option, answered.why_not[: len(expected[1])]) == expected


@pytest.mark.parametrize(
    ("role", "tool", "is_allowed"),
    [
        (CODER, "mcp__verifier__run_unit_tests", True),
        (VERIFIER, "mcp__verifier__run_unit_tests", True),
        (REVIEWER, "mcp__verifier__run_unit_tests", False),
        (CODER, "mcp__other__push", False),
        (CODER, "", False),
        (CODER, "EDIT", False),
        (VERIFIER, "edit", False),
    ],
)
def test_the_verifiers_tools_are_for_those_who_are_offered_them(role: Role, tool: str, is_allowed: bool) -> None:
    assert (asked(role, tool).why_not == "") is is_allowed


@pytest.mark.parametrize(
    ("tool", "places", "arguments", "why"),
    [
        ("edit", (INSIDE,), {}, ""),
        ("edit", ("a.py",), {}, ""),
        ("read", ("/shown/objects/pack",), {}, ""),
        ("edit", ("/etc/passwd",), {}, "outside of its workspace: /etc/passwd"),
        ("edit", (INSIDE, "/etc/passwd"), {}, "outside of its workspace: /etc/passwd"),
        ("edit", ("/place/workspace/../../etc/passwd",), {}, "outside of its workspace"),
        ("edit", (), {"file_path": "/home/person/.ssh/id"}, "outside of its workspace"),
        ("edit", (INSIDE,), {"file_path": "/home/person/.ssh/id"}, "outside of its workspace"),
        ("execute", (), {"command": "git push origin main"}, "a push"),
        ("execute", (), {"command": ["sudo", "rm"]}, "becoming another user"),
        ("execute", (), {"command": "cat ~/.aws/credentials"}, "credentials"),
        ("execute", (), {"command": "make test"}, ""),
        ("execute", (), {"command": 7, "path": None}, ""),
    ],
)
def test_a_coder_is_refused_what_no_coder_may_try(
    tool: str, places: tuple[str, ...], arguments: dict[str, object], why: str
) -> None:
    answered = asked(CODER, tool, places=places, **arguments)
    assert why in answered.why_not
    assert answered.option == ("reject_once-id" if why else "allow_once-id")


@pytest.mark.parametrize(
    ("tool", "offered", "option"),
    [
        ("edit", ("allow_always", "allow_once", "reject_once"), "allow_once-id"),
        ("edit", ("allow_always", "reject_once"), "allow_always-id"),
        ("edit", ("reject_once",), None),
        ("switch_mode", ("allow_once", "reject_always", "reject_once"), "reject_once-id"),
        ("switch_mode", ("allow_once", "reject_always"), "reject_always-id"),
        ("switch_mode", ("allow_once", "allow_always"), None),
    ],
)
def test_once_is_chosen_before_always_and_no_option_of_the_right_kind_is_no_option(
    tool: str, offered: tuple[str, ...], option: str | None
) -> None:
    assert asked(CODER, tool, *offered).option == option


def test_nothing_offered_is_no_permission() -> None:
    assert answer(task(CODER), "edit", {}, (), []) == Answer(None, "it offers no option that allows")


def test_a_session_that_is_asked_for_the_form_only_gets_no_tool() -> None:
    asked_again = answer(task(CODER), "read", {}, (), options(*EVERY), is_form_only=True)
    assert asked_again == Answer("reject_once-id", "its answer needs no tool")


OFFERED = ("run_unit_tests", "run_lint")


@pytest.mark.parametrize(
    ("kind", "title", "tool"),
    [
        ("other", "mcp__verifier__run_unit_tests", "mcp__verifier__run_unit_tests"),
        (None, "verifier_run_unit_tests", "mcp__verifier__run_unit_tests"),
        ("other", "run_lint (verifier MCP Server)", "mcp__verifier__run_lint"),
        ("execute", "Tool: verifier/run_lint", "mcp__verifier__run_lint"),
        ("other", "run_lint", "mcp__verifier__run_lint"),
        ("other", "run_lint for me", "other"),
        ("execute", "verifier run_lint; rm -rf .", "execute"),
        ("execute", "verifier $(run_lint)", "execute"),
        ("execute", "verifier run_lint\nrm -rf .", "execute"),
        ("other", "verifier run_everything", "other"),
        ("edit", "a.py", "edit"),
        (None, "", "other"),
        (None, "x" * 10_000, "other"),
    ],
)
def test_a_call_is_known_by_its_kind_or_as_a_tool_of_the_verifiers(kind: str | None, title: str, tool: str) -> None:
    assert tool_of(kind, [title], OFFERED) == tool


@given(
    role=st.sampled_from(Role), tool=st.text(max_size=30), places=st.lists(st.text(max_size=30), max_size=3),
    arguments=st.dictionaries(st.text(max_size=10), st.none() | st.text(max_size=20) | st.integers(), max_size=3),
    kinds=st.lists(st.sampled_from(EVERY), max_size=4, unique=True),
)  # fmt: skip
def test_no_call_outside_of_the_table_is_ever_allowed(
    role: Role, tool: str, places: list[str], arguments: dict[str, object], kinds: list[str]
) -> None:
    answered = answer(task(role), tool, arguments, places, options(*kinds))
    is_allowed = answered.option is not None and answered.option.startswith("allow")
    assert not is_allowed or tool in TABLE[role] or tool.startswith("mcp__verifier__")
