"""The specification library in whole runs: what a spec asks for beside its requirements holds them, and is on record.

The coder is a script that stands for an agent; code, git, tests, hypothesis, the prover and the sandbox are real.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.session.agents.runner.trace import trace_beside
from agent_fox.testing.worlds import rows
from tests.stories.scene import NOT_PROVEN, PROVEN, REFUSED, configure, decisions, run, verdicts
from tests.stories.test_checks_in_a_run import RIGHT, evidence, world

LIBRARY = ".agent-fox/specs/01_cart/specifications.toml"
PROPERTY = """
[[specification]]
name = "order-does-not-matter"
kind = "property"
text = "The sum is the same in every order."
requirements = ["01-REQ-1.1"]
tests = ["tests/test_order.py::test_order"]
examples = 25
"""
ORDER = """
from hypothesis import given, strategies as st
from cart import total


@given(st.lists(st.integers()))
def test_order(prices):
    assert total(prices) == total(prices[::-1])
"""
CONTRACT = """
[[specification]]
name = "one-price"
kind = "contract"
text = "The sum of one price is that price."
requirements = ["01-REQ-1.1"]
function = "cart:single"
signature = "(price: int) -> int"
post = ["__return__ == price"]
"""
FIRST_ONLY = (
    "def total(prices):\n    return prices[0] + prices[1] if len(prices) == 2 and prices == [1, 2] else prices[:1]\n"
)
SINGLE = RIGHT + "\n\ndef single(price: int) -> int:\n    return {body}\n"


def checks(root: Path) -> list[tuple[str, str]]:
    """Address and status of every record of a lane."""
    found = rows(root, "SELECT address, status FROM ledger WHERE kind = 'check' ORDER BY position")
    return [(str(address), str(status)) for address, status in found]


def with_contract(folder: Path, *bodies: str) -> Path:
    steps = {str(n): {"cart.py": SINGLE.format(body=body)} for n, body in enumerate(bodies, 1)}
    return world(folder, steps, {LIBRARY: CONTRACT})


def test_a_property_that_fails_sends_the_work_back_with_its_counterexample(tmp_path: Path) -> None:
    steps = {"1": {"cart.py": FIRST_ONLY}, "2": {"cart.py": RIGHT}}
    root = world(tmp_path / "repo", steps, {LIBRARY: PROPERTY, "tests/test_order.py": ORDER})
    run(root, ends=PROVEN)
    assert decisions(root, "01_cart:2") == ["Recode", "Accept"]
    assert checks(root) == [("01_cart/order-does-not-matter", "FAIL"), ("01_cart/order-does-not-matter", "PASS")]
    (said,) = rows(root, "SELECT evidence FROM verification_results WHERE verdict = 'FAIL'")
    assert "01_cart/order-does-not-matter (property) does not hold" in str(said[0])
    assert "prices=[" in str(said[0])


def test_a_requirement_is_held_by_a_contract_although_its_tests_pass(tmp_path: Path) -> None:
    root = with_contract(tmp_path / "repo", "0 if price == 4277 else price", "price")
    run(root, ends=PROVEN)
    assert decisions(root, "01_cart:2") == ["Recode", "Accept"]
    assert checks(root) == [("01_cart/one-price", "FAIL"), ("01_cart/one-price", "PASS")]
    content = [json.loads(str(row[0])) for row in rows(root, "SELECT content FROM ledger WHERE kind = 'check'")]
    assert "4277" in content[0]["result"]["counterexample"]
    assert [one["body"]["is_proof"] for one in content] == [False, True]
    assert content[1]["spec_ref"]["kind"] == "contract"
    assert content[1]["artifact"]["tree"]
    assert content[1]["limitation"]


def test_what_cannot_be_decided_is_unknown_and_never_a_pass(tmp_path: Path) -> None:
    root = world(tmp_path / "repo", {"1": {"cart.py": RIGHT}}, {LIBRARY: FORMULA})
    run(root, ends=NOT_PROVEN)
    assert decisions(root, "01_cart:2") == ["Reread", "Block"]
    assert verdicts(root) == {"01-REQ-1.1": "UNKNOWN"}
    assert "recorded no events" in evidence(root, "01-REQ-1.1") + str(
        rows(root, "SELECT content FROM ledger WHERE kind = 'check'")
    )


FORMULA = """
[[specification]]
name = "checked"
kind = "temporal property"
text = "It ran the tests."
requirements = ["all"]
formula = 'eventually(call("run_unit_tests"))'
"""


@pytest.mark.parametrize(("tool", "ends", "word"), [("run_unit_tests", PROVEN, "PASS"), ("Bash", NOT_PROVEN, "FAIL")])
def test_what_a_coders_session_recorded_is_held_against_a_formula(
    tmp_path: Path, tool: str, ends: int, word: str
) -> None:
    root = world(tmp_path / "repo", {"1": {"cart.py": RIGHT}})
    run(root, ends=PROVEN)
    (log_of,) = rows(root, "SELECT log FROM sessions WHERE archetype = 'coder'")
    lines = ({"kind": "call", "tool": tool}, {"kind": "end", "is_whole": True})
    trace_beside(Path(str(log_of[0]))).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (root / LIBRARY).write_text(FORMULA)
    run(root, ends=ends, AGENT_FOX__RETRY__ATTEMPTS="1")
    assert checks(root)[-1] == ("01_cart/checked", word)
    assert verdicts(root) == {"01-REQ-1.1": word}


def test_a_spec_without_specifications_is_judged_as_before(tmp_path: Path) -> None:
    root = world(tmp_path / "repo", {"1": {"cart.py": RIGHT}})
    run(root, ends=PROVEN)
    assert checks(root) == []
    assert rows(root, "SELECT DISTINCT backend FROM sessions WHERE archetype = 'verifier'") == [("checks",)]
    assert rows(root, "SELECT count(*) FROM specifications") == [(0,)]


def test_what_a_coder_writes_into_the_specs_folder_binds_nothing(tmp_path: Path) -> None:
    weaker = CONTRACT.replace("__return__ == price", "True")
    steps = {"1": {"cart.py": SINGLE.format(body="0"), LIBRARY: weaker}}
    root = world(tmp_path / "repo", steps, {LIBRARY: CONTRACT})
    run(root, ends=NOT_PROVEN, AGENT_FOX__RETRY__ATTEMPTS="1")
    assert verdicts(root) == {"01-REQ-1.1": "FAIL"}


def test_a_specification_that_comes_later_is_held_against_what_was_proven(tmp_path: Path) -> None:
    root = with_contract(tmp_path / "repo", "price + 1", "price")
    (root / LIBRARY).unlink()
    run(root, ends=PROVEN)
    (root / LIBRARY).write_text(CONTRACT)
    run(root, ends=PROVEN)
    assert decisions(root, "01_cart:2") == ["Accept", "Reopen", "Reread", "Recode", "Accept"]
    (root / LIBRARY).unlink()
    run(root, ends=PROVEN)
    states = rows(root, "SELECT state, added_by FROM specifications ORDER BY id")
    assert states == [("adopted", "spec:01_cart"), ("withdrawn", "spec:01_cart")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[specification]", "this is not TOML"),
        (CONTRACT + CONTRACT, "stands here twice"),
        (CONTRACT.replace("01-REQ-1.1", "01-REQ-9.9"), "has no such requirement"),
        (CONTRACT.replace('"contract"', '"poem"'), "kind: one of assertion, contract"),
    ],
)
def test_a_file_that_cannot_be_used_stops_the_run_before_it_starts(tmp_path: Path, text: str, said: str) -> None:
    root = world(tmp_path / "repo", {"1": {"cart.py": RIGHT}}, {LIBRARY: text})
    done = run(root, ends=REFUSED)
    assert LIBRARY in done.stderr
    assert said in done.stderr
    assert not (root / ".agent-fox/state.db").exists()


def test_the_judge_joins_by_itself_and_cannot_be_chosen(tmp_path: Path) -> None:
    root = world(tmp_path / "repo", {"1": {"cart.py": RIGHT}})
    configure(root, 'backend = "checks"', 'backend = ["checks", "library"]')
    assert "joins by itself" in run(root, ends=REFUSED).stderr


def test_a_coder_is_told_of_the_contract_before_anything_fails_of_it(tmp_path: Path) -> None:
    root = with_contract(tmp_path / "repo", "0 if price == 4277 else price", "price")
    agent = tmp_path / "agent.py"
    told = 'print(pathlib.Path(os.environ["AGENT_FOX_BRIEF"]).read_text())\n'
    agent.write_text(agent.read_text() + told)
    run(root, ends=PROVEN)
    first, again = (
        Path(str(log)).read_text()
        for (log,) in rows(root, "SELECT log FROM sessions WHERE archetype = 'coder' ORDER BY id")
    )
    for brief in (first, again):
        assert "### 01_cart/one-price (contract)\n\n> The sum of one price is that price.\n\nFor 01-REQ-1.1.\n" in brief
        assert "function: cart:single\nsignature: (price: int) -> int\npost: __return__ == price\n" in brief
    assert ("Failing" in first, "Failing" in again) == (False, True)
