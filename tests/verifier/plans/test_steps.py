from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.verifier.ground.results import Tool
from agent_fox.verifier.plans.steps import AUTO, PlanRules, Risk, UnknownPlan, choose, named, risks_of
from agent_fox.verifier.reporting.report import Step

RULES = PlanRules()


@pytest.mark.parametrize(
    ("path", "risk"),
    [
        ("README.md", Risk.DOCUMENTATION),
        ("docs/guide/index.html", Risk.DOCUMENTATION),
        ("src/deep/NOTES.rst", Risk.DOCUMENTATION),
        ("requirements.txt", Risk.DEPENDENCY_UPGRADE),
        ("service/requirements-dev.txt", Risk.DEPENDENCY_UPGRADE),
        ("CMakeLists.txt", Risk.ORDINARY),
        ("lib/CMakeLists.txt", Risk.ORDINARY),
        ("src/cart.py", Risk.ORDINARY),
        ("service-a/pom.xml", Risk.DEPENDENCY_UPGRADE),
        ("web/package-lock.json", Risk.DEPENDENCY_UPGRADE),
        ("proto/cart.proto", Risk.API_MIGRATION),
        ("openapi/v1/cart.yaml", Risk.API_MIGRATION),
        ("src/openapi/x.py", Risk.ORDINARY),
    ],
)
def test_what_a_path_risks(path: str, risk: Risk) -> None:
    assert risks_of([path], RULES) == {risk: path}


def test_a_change_of_documents_alone_runs_no_tests() -> None:
    plan = choose(["README.md", "docs/a.md"], RULES)
    assert plan.name == "documentation"
    assert plan.steps == (Step(Tool.STATIC_POLICY), Step(Tool.FORMAT_CHECK, required=False))


def test_installed_packages_are_no_change() -> None:
    assert choose(["node_modules/a/package.json", "README.md"], RULES).name == "documentation"


def test_documents_beside_code_are_an_ordinary_change() -> None:
    plan = choose(["README.md", "src/cart.py"], RULES)
    assert plan.name == "ordinary"
    assert Step(Tool.UNIT_TESTS) in plan.steps


def test_nothing_known_to_have_changed_is_an_ordinary_change() -> None:
    plan = choose([], RULES)
    assert (plan.name, plan.why) == ("ordinary", "ordinary: nothing is known to have changed")


def test_two_risks_bring_the_steps_of_both_and_what_one_requires_is_required() -> None:
    plan = choose(["pom.xml", "api.proto"], RULES, ["CartTest"])
    tools = [step.tool for step in plan.steps]
    assert plan.name == "api-migration+dependency-upgrade"
    assert {Tool.SECURITY_SCAN, Tool.SELECTED_TEST} <= set(tools)
    assert Step(Tool.FORMAT_CHECK) in plan.steps
    assert plan.why == "api-migration by api.proto, dependency-upgrade by pom.xml"


def test_each_changed_test_is_a_step_of_an_api_migration() -> None:
    plan = choose(["a.proto"], RULES, ["tests/test_a.py", "tests/test_b.py"])
    assert [step.selector for step in plan.steps if step.tool is Tool.SELECTED_TEST] == [
        "tests/test_a.py",
        "tests/test_b.py",
    ]


def test_a_repository_can_raise_the_least_risk_and_add_globs_but_take_none_away() -> None:
    strict = PlanRules(interfaces=("src/public/**",), least=Risk.ORDINARY)
    assert choose(["README.md"], strict).name == "ordinary"
    assert choose(["src/public/a.py"], strict).name == "api-migration"
    assert choose(["pom.xml"], strict).name == "dependency-upgrade"


def test_a_repositorys_own_plan_counts_by_its_name() -> None:
    rules = PlanRules(plans={"quick": (Step(Tool.COMPILE),)})
    assert named("quick", rules).steps == (Step(Tool.COMPILE),)
    assert named("ordinary", rules).name == "ordinary"


def test_an_unknown_plan_names_those_there_are() -> None:
    with pytest.raises(UnknownPlan, match="'quik'; the plans are auto, documentation, ordinary"):
        named("quik", RULES)
    with pytest.raises(UnknownPlan):
        named(AUTO, RULES)


@given(st.lists(st.sampled_from(["README.md", "src/a.py", "pom.xml", "a.proto"]), unique=True))
def test_every_plan_checks_the_policy_and_more_changes_never_mean_fewer_required_tools(paths: list[str]) -> None:
    def required(changed: list[str]) -> set[Tool]:
        return {step.tool for step in choose(changed, RULES, ["t"]).steps if step.required}

    assert Tool.STATIC_POLICY in required(paths)
    assert required(paths) <= required([*paths, "src/other.py", "b.proto", "go.mod"])
