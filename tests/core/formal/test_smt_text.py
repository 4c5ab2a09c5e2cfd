"""SMT-LIB as it may stand in a theorem: declarations, definitions, assertions, and one formula to follow from them."""

from __future__ import annotations

import pytest

from agent_fox.core.formal.smt_text import SmtError, check_axioms, pieces, question, trouble
from agent_fox.core.formal.specification import TheoremStatement


def test_a_text_is_taken_apart_into_its_outermost_expressions() -> None:
    text = '(assert (= "(" s)) ; a ) in a comment\nx (|odd ) name| y) ((f x) 2)'
    assert list(pieces(text)) == [
        ("assert", '(assert (= "(" s))'),
        ("", "x"),
        ("|odd ) name|", "(|odd ) name| y)"),
        ("(", "((f x) 2)"),
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (")", "a bracket closes at character 1 that none opens"),
        ("(a))", "a bracket closes at character 4 that none opens"),
        ("(", "1 brackets are never closed"),
        ("(a (b", "2 brackets are never closed"),
        ('a "open', "'\"' at character 3 has no end or no meaning"),
        ("|open", "'|' at character 1 has no end or no meaning"),
    ],
)
def test_a_text_whose_brackets_or_quotes_do_not_close_is_refused(text: str, why: str) -> None:
    with pytest.raises(SmtError) as caught:
        list(pieces(text))
    assert str(caught.value) == why


@pytest.mark.parametrize("command", ["check-sat", "exit", "echo", "set-option", "push", "pop", "reset", "get-model"])
def test_axioms_give_no_orders_to_the_solver(command: str) -> None:
    check_axioms("(declare-const x Int) (assert (> x 0)) (define-fun f ((n Int)) Int n)")
    with pytest.raises(SmtError) as caught:
        check_axioms(f"(declare-const x Int) ({command} {'x' * 40})")
    shown = f"({command} {'x' * 40}"[:40]
    assert str(caught.value) == f"'{shown}': axioms only declare, define and assert"


ONE_FORMULA = "the goal is one formula, such as (= (f 2) 4), not a command"


@pytest.mark.parametrize(
    ("goal", "why"),
    [
        ("(> x 0)", ""),
        ("true", ""),
        *((goal, ONE_FORMULA) for goal in ("", "true true", "(assert true)", "(declare-const x Int)", "; only words")),
        ("true)", "a bracket closes at character 5 that none opens"),
    ],
)
def test_a_goal_is_one_formula(goal: str, why: str) -> None:
    assert trouble(TheoremStatement(goal)) == why


def test_the_solver_is_asked_whether_the_axioms_are_possible_and_then_whether_the_goal_can_fail() -> None:
    asked = question(TheoremStatement(" (> x 0) ; so it is", "(declare-const x Int)", seconds=1.5))
    assert asked.splitlines() == [
        "(set-option :timeout 1500)",
        "(declare-const x Int)",
        "(push)",
        "(check-sat)",
        "(pop)",
        "(assert (not (> x 0)))",
        "(check-sat)",
        "(get-model)",
    ]
