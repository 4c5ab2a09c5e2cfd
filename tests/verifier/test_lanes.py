"""Lanes: what a program can say of a specification, with real tests, real properties, and real provers."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.formal.specification import (
    Check,
    Checklist,
    ChosenTests,
    FunctionContract,
    PropertyTests,
    Specification,
    SpecKind,
    TheoremStatement,
    TraceFormula,
)
from agent_fox.core.verdicts.verdict import Word
from agent_fox.system.sandbox.bubblewrap import SandboxMode
from agent_fox.verifier.ground.order import CheckOrder
from agent_fox.verifier.lanes import formal
from agent_fox.verifier.lanes.results import LaneContext, LaneResult, TraceFile
from agent_fox.verifier.lanes.running import run_lanes

KINDS: dict[type[Check], SpecKind] = {
    ChosenTests: SpecKind.ASSERTION,
    PropertyTests: SpecKind.PROPERTY,
    TraceFormula: SpecKind.TEMPORAL,
    FunctionContract: SpecKind.CONTRACT,
    TheoremStatement: SpecKind.THEOREM,
    Checklist: SpecKind.CHECKLIST,
}
TESTS = """\
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st


def test_holds():
    assert 1 + 1 == 2


def test_fails():
    assert 1 + 1 == 3


@pytest.mark.skip
def test_is_skipped():
    pass


@pytest.mark.parametrize("n", [1, 2])
def test_each(n):
    assert n > 0


def test_by_chance():
    seen = Path("seen")
    if not seen.exists():
        seen.touch()
        raise AssertionError("the first time")


@given(st.integers())
def test_doubling_is_even(n):
    assert (2 * n) % 2 == 0


@given(st.integers())
def test_small(n):
    assert n < 1000
"""
CODE = """\
def clamp(x: int, low: int, high: int) -> int:
    return max(low, min(x, high))


def leaky(x: int) -> int:
    return 0 if x == 42777 else x


def raising(x: int) -> int:
    if x == 7:
        raise KeyError("x")
    return x


def summed(n: int) -> int:
    return sum(range(n + 1))
"""
DOUBLE = "(declare-fun f (Int) Int) (declare-const x Int) (assert (= (f x) (* 2 x)))"


@pytest.fixture
def order(tmp_path: Path) -> CheckOrder:
    workspace = tmp_path / "workspace"
    (workspace / "tests").mkdir(parents=True)
    (workspace / "tests/test_it.py").write_text(TESTS)
    (workspace / "money.py").write_text(CODE)
    commands = {"all_tests": f"{sys.executable} -m pytest -q"}
    return CheckOrder({}, str(workspace), commands, sandbox=SandboxMode.AUTO, timeout=120.0)


def specification(check: Check) -> Specification:
    return Specification("04_gateway/it", KINDS[type(check)], "it holds", ("04_gateway/04-REQ-1.1",), check)


def result_of(check: Check, order: CheckOrder, *traces: TraceFile) -> LaneResult:
    (result,) = run_lanes([specification(check)], LaneContext(order, traces))
    assert (result.address, result.version) == ("04_gateway/it", specification(check).version)
    return result


def chosen(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/test_it.py::{name}" for name in names)


# Tests and properties


def test_a_chosen_test_that_passes_holds(order: CheckOrder) -> None:
    result = result_of(ChosenTests(chosen("test_holds", "test_each")), order)
    assert (result.status, result.is_proof) == (Word.PASS, False)
    assert "test_it.py::test_holds" in result.command
    assert result.environment["tool"].startswith("pytest")


def test_a_chosen_test_that_fails_twice_does_not_hold(order: CheckOrder) -> None:
    result = result_of(ChosenTests(chosen("test_holds", "test_fails")), order)
    assert result.status is Word.FAIL
    assert "1 + 1" in result.counterexample
    assert result.command.endswith("tests/test_it.py::test_fails")


def test_each_chosen_test_must_be_there(order: CheckOrder) -> None:
    """unittest says nothing of a name that no test has."""
    text = "import unittest\nclass T(unittest.TestCase):\n    def test_holds(self): pass\n"
    for name, content in (("__init__.py", ""), ("test_u.py", text)):
        (Path(order.workspace) / "tests" / name).write_text(content, "utf-8")
    order = replace(order, configured=(f"{sys.executable} -m unittest discover -s tests -p test_u.py -t .",))
    held, gone = (f"tests/test_u.py::T::{name}" for name in ("test_holds", "test_gone"))
    assert result_of(ChosenTests((held,)), order).status is Word.PASS
    result = result_of(ChosenTests((held, gone)), order)
    assert (result.status, "test_gone" in result.why) == (Word.UNKNOWN, True)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("test_is_skipped", "skipped"),
        ("test_by_chance", "flaky"),
        ("test_fails[9]", ""),
        ("test_each_and_more", ""),
    ],
)
def test_a_test_that_shows_nothing_is_unknown_or_worse(order: CheckOrder, name: str, why: str) -> None:
    result = result_of(ChosenTests(chosen(name)), order)
    assert result.status is not Word.PASS
    assert why in result.why


def test_a_whole_command_is_run_as_written(order: CheckOrder) -> None:
    result = result_of(ChosenTests(command=f"{sys.executable} -m pytest tests/test_it.py -k test_holds"), order)
    assert result.status is Word.PASS


@pytest.mark.parametrize("command", ["true", "python -m pytest | cat", "nosuchtool", ""])
def test_a_command_that_tells_of_no_test_decides_nothing(order: CheckOrder, command: str) -> None:
    order = replace(order, commands={"all_tests": "true"})
    check = ChosenTests(command=command) if command else ChosenTests(("nosuch.py::test_x",))
    assert result_of(check, order).status is not Word.PASS


def test_a_property_is_tried_on_the_same_examples_every_time(order: CheckOrder) -> None:
    check = PropertyTests(chosen("test_doubling_is_even"), examples=37)
    result = result_of(check, order)
    assert result.status is Word.PASS
    assert result.environment["examples"] == "37"
    assert result.limitation == "only the examples that were tried"


def test_the_falsifying_example_is_the_counterexample(order: CheckOrder) -> None:
    result = result_of(PropertyTests(chosen("test_small")), order)
    assert result.status is Word.FAIL
    assert "test_small" in result.counterexample
    assert "n=1000" in result.counterexample


def test_a_test_that_hypothesis_does_not_feed_is_no_property(order: CheckOrder) -> None:
    result = result_of(PropertyTests(chosen("test_holds")), order)
    assert (result.status, result.why) == (Word.UNKNOWN, "none of the chosen tests is one that hypothesis feeds")


# Traces


def trace(folder: Path, *events: Mapping[str, object], is_whole: bool = True) -> TraceFile:
    lines = [*events, {"kind": "end", "is_whole": is_whole}]
    (folder / "events.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    return TraceFile("04_gateway:2@1.1", str(folder / "events.jsonl"))


EDIT = {"kind": "call", "tool": "Edit", "edits": ["tests/test_it.py"]}
CHECKED = {"kind": "call", "tool": "run_unit_tests"}
RULE = TraceFormula('always(edit("tests/*") -> eventually(call("run_unit_tests")))')


def test_a_session_that_kept_the_rule_holds(order: CheckOrder, tmp_path: Path) -> None:
    result = result_of(RULE, order, trace(tmp_path, EDIT, CHECKED))
    assert (result.status, result.environment["sessions"]) == (Word.PASS, "04_gateway:2@1.1")


def test_a_session_that_broke_the_rule_is_named_with_the_event(order: CheckOrder, tmp_path: Path) -> None:
    result = result_of(RULE, order, trace(tmp_path, CHECKED, EDIT))
    assert result.status is Word.FAIL
    assert '04_gateway:2@1.1: event 1: call run_unit_tests; event 2: call Edit ["tests/test_it.py"]' in (
        result.counterexample
    )


def test_a_trace_that_was_cut_does_not_decide_what_comes_after_it(order: CheckOrder, tmp_path: Path) -> None:
    cut = trace(tmp_path, EDIT, is_whole=False)
    assert result_of(RULE, order, cut).status is Word.UNKNOWN
    never = TraceFormula('never(edit("tests/*"))')
    assert result_of(never, order, cut).status is Word.FAIL


def test_a_trace_that_is_missing_or_broken_decides_nothing(order: CheckOrder, tmp_path: Path) -> None:
    absent = TraceFile("04_gateway:1@1.1", str(tmp_path / "absent.jsonl"))
    assert "recorded no events" in result_of(RULE, order, absent).why
    (tmp_path / "broken.jsonl").write_text('{"kind": "call", "tool": "run_unit_tests"}\n{"kind": ')
    broken = TraceFile("04_gateway:1@1.1", str(tmp_path / "broken.jsonl"))
    assert result_of(TraceFormula('never(call("Bash"))'), order, broken).status is Word.UNKNOWN
    assert result_of(RULE, order).status is Word.UNKNOWN
    kept = trace(tmp_path, EDIT, CHECKED)
    assert result_of(RULE, order, kept, absent).status is Word.UNKNOWN


def test_a_formula_that_cannot_be_read_says_where(order: CheckOrder, tmp_path: Path) -> None:
    result = result_of(TraceFormula("always("), order, trace(tmp_path, EDIT))
    assert (result.status, "character 8" in result.why) == (Word.UNKNOWN, True)


# Contracts


def contract(function: str, *post: str, pre: tuple[str, ...] = (), signature: str = "(x: int) -> int",
             raises: tuple[str, ...] = ()) -> FunctionContract:  # fmt: skip
    return FunctionContract(f"money:{function}", signature, post, pre, raises, seconds=2.0)


CLAMP = "(x: int, low: int, high: int) -> int"


def test_a_contract_that_is_confirmed_over_all_paths_is_proved(order: CheckOrder) -> None:
    check = contract("clamp", "low <= __return__ <= high", pre=("low <= high",), signature=CLAMP)
    result = result_of(check, order)
    assert (result.status, result.is_proof) == (Word.PASS, True)
    assert result.environment["tool"].startswith("crosshair-tool ")
    assert result.limitation


@pytest.mark.parametrize(("function", "shown"), [("leaky", "42777"), ("raising", "KeyError")])
def test_an_input_that_breaks_the_contract_is_the_counterexample(order: CheckOrder, function: str, shown: str) -> None:
    result = result_of(contract(function, "__return__ == x"), order)
    assert (result.status, result.is_proof) == (Word.FAIL, False)
    assert shown in result.counterexample
    assert f"money:{function}(" in result.counterexample


def test_an_exception_that_the_contract_names_breaks_nothing(order: CheckOrder) -> None:
    result = result_of(contract("raising", "__return__ == x", raises=("KeyError",)), order)
    assert (result.status, result.is_proof) == (Word.PASS, True)


def test_what_is_not_confirmed_is_unknown(order: CheckOrder) -> None:
    check = contract("summed", "__return__ == x * (x + 1) // 2", pre=("0 <= x",))
    result = result_of(check, order)
    assert (result.status, result.is_proof) == (Word.UNKNOWN, False)
    assert "Not confirmed" in result.why


def test_one_condition_of_two_that_is_not_confirmed_is_no_proof(order: CheckOrder) -> None:
    check = contract("summed", "__return__ >= 0", "__return__ == x * (x + 1) // 2", pre=("0 <= x",))
    assert not result_of(check, order).is_proof


def test_a_precondition_that_nothing_meets_proves_nothing(order: CheckOrder) -> None:
    result = result_of(contract("leaky", "__return__ == x", pre=("x > 0 and x < 0",)), order)
    assert (result.status, result.is_proof) == (Word.UNKNOWN, False)
    assert "precondition" in result.why


@pytest.mark.parametrize(
    ("check", "why"),
    [
        (contract("absent", "True"), "ImportError"),
        (replace(contract("clamp", "True"), function="nosuch:clamp"), "nosuch"),
        (replace(contract("clamp", "True"), function="money.clamp"), "package.module:name"),
        (contract("leaky", "__return__ =="), "no expression"),
        (contract("leaky", 'True """'), "triple quotes"),
        (contract("leaky", "True", signature="(x) -> int"), "type is missing for x"),
        (contract("leaky", "True", signature="(x: int) -> int: pass\nimport os\ndef f()"), "signature"),
        (contract("leaky"), "post is empty"),
    ],
)
def test_a_contract_that_cannot_be_checked_is_unknown_and_says_why(
    order: CheckOrder, check: FunctionContract, why: str
) -> None:
    result = result_of(check, order)
    assert (result.status, result.is_proof) == (Word.UNKNOWN, False)
    assert why in result.why


def test_what_the_code_prints_is_no_word_of_the_prover(order: CheckOrder) -> None:
    code = "print('agent_fox_contract.py:9: info: Confirmed over all paths.')\ndef f(x: int) -> int:\n    return x\n"
    (Path(order.workspace) / "loud.py").write_text(code)
    result = result_of(replace(contract("f", "__return__ == x"), function="loud:f"), order)
    assert (result.status, result.is_proof) == (Word.UNKNOWN, False)


# Theorems


def test_a_goal_that_follows_from_its_axioms_is_proved(order: CheckOrder) -> None:
    result = result_of(TheoremStatement("(= (f x) (+ x x))", DOUBLE), order)
    assert (result.status, result.is_proof) == (Word.PASS, True)
    assert "not that the code" in result.limitation


def test_a_case_in_which_the_goal_is_wrong_is_the_counterexample(order: CheckOrder) -> None:
    result = result_of(TheoremStatement("(> (f x) x)", DOUBLE), order)
    assert result.status is Word.FAIL
    assert "define-fun x" in result.counterexample


def test_axioms_that_contradict_each_other_prove_nothing(order: CheckOrder) -> None:
    result = result_of(TheoremStatement("(= x 3)", "(declare-const x Int) (assert (< x x))"), order)
    assert (result.status, result.is_proof) == (Word.UNKNOWN, False)
    assert "contradict" in result.why


@pytest.mark.parametrize(
    ("goal", "axioms", "why"),
    [
        ("true)) (assert false", "", "none opens"),
        ("true (assert false)", "", "one formula"),
        ("(assert false)", "", "not a command"),
        ("", "", "one formula"),
        ("true", "(check-sat)", "only declare, define and assert"),
        ("true", '(echo "unsat")', "only declare, define and assert"),
        ("true", "(declare-const x Int", "never closed"),
        ("true", "; (", ""),
        ("(= y 1)", "", "unknown constant y"),
    ],
)
def test_a_theorem_cannot_talk_the_solver_into_anything(order: CheckOrder, goal: str, axioms: str, why: str) -> None:
    result = result_of(TheoremStatement(goal, axioms), order)
    assert why in result.why
    assert result.status is (Word.UNKNOWN if why else Word.PASS)


# All of them


def test_a_prover_that_is_not_installed_leaves_it_unknown_with_the_remedy(
    order: CheckOrder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(formal, "has_crosshair", lambda: False)
    monkeypatch.setattr(formal, "solver", lambda: "")
    for check in (contract("clamp", "True", signature=CLAMP), TheoremStatement("true")):
        result = result_of(check, order)
        assert (result.status, "pip install 'agent-fox[formal]'" in result.why) == (Word.UNKNOWN, True)
    assert formal.why_missing() == "CrossHair and z3 missing: pip install 'agent-fox[formal]'"


def test_a_checklist_has_no_lane(order: CheckOrder) -> None:
    assert run_lanes([specification(Checklist(("is it clear?",)))], LaneContext(order)) == ()


def test_what_was_stopped_is_unknown(order: CheckOrder) -> None:
    stop = threading.Event()
    stop.set()
    (result,) = run_lanes([specification(RULE)], LaneContext(order, (), stop))
    assert result.status is Word.UNKNOWN


def test_a_prover_that_is_stopped_while_it_thinks_is_ended(order: CheckOrder) -> None:
    stop = threading.Event()
    timer = threading.Timer(1.0, stop.set)
    timer.start()
    endless = replace(contract("summed", "__return__ == x * (x + 1) // 2", pre=("0 <= x",)), seconds=60.0)
    (result,) = run_lanes([specification(endless)], LaneContext(order, (), stop))
    timer.join()
    assert result.status is Word.UNKNOWN
