"""Formulas over traces: what they say, against a slow reading of the same rules, and of traces that were cut."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.formal.temporal import (
    READ,
    Always,
    And,
    Atom,
    AtomKind,
    Constant,
    EventKind,
    Eventually,
    Formula,
    FormulaError,
    Next,
    Not,
    Or,
    Trace,
    TraceEvent,
    Truth,
    Until,
    Word,
    check,
    parse,
    values,
    witness,
    words,
)

T, F, U = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN
A = TraceEvent(EventKind.CALL, "a")
B = TraceEvent(EventKind.CALL, "b")
C = TraceEvent(EventKind.CALL, "c")
EDIT = TraceEvent(EventKind.CALL, "Edit", ("tests/test_x.py",))
HIDDEN = TraceEvent(EventKind.CALL, "Edit", None)
RUN = TraceEvent(EventKind.CALL, "Bash", (), "git push origin")
UNTOLD = TraceEvent(EventKind.CALL, "Bash", (), None)
RULE = 'always(edit("tests/*") -> eventually(call("run_unit_tests")))'
TESTED = TraceEvent(EventKind.CALL, "run_unit_tests")


def says(formula: str, *events: TraceEvent, is_whole: bool = True) -> Truth:
    return check(parse(formula), Trace(events, is_whole))


@pytest.mark.parametrize(
    ("formula", "events", "truth"),
    [
        ('call("a")', (A, B), T),
        ('call("b")', (A, B), F),
        ('next(call("b"))', (A, B), T),
        ('next(call("b"))', (A,), F),
        ('eventually(call("b"))', (A, B), T),
        ('always(call("a"))', (A, A), T),
        ('always(call("a"))', (A, B), F),
        ('never(call("c"))', (A, B), T),
        ('call("a") until call("b")', (A, A, B, C), T),
        ('until(call("a"), call("b"))', (A, C, B), F),
        ('call("a") until call("b")', (A, A), F),
        ('precedes(call("a"), call("b"))', (C, A, B), T),
        ('precedes(call("a"), call("b"))', (B, A), F),
        ('precedes(call("a"), call("b"))', (C, C), T),
        ('call("a") and not call("b")', (A,), T),
        ('call("a") & !call("b")', (A,), T),
        ('!call("a") | call("a")', (A,), T),
        ('call("b") & (call("b") or call("a"))', (A,), F),
        ('(call("b") and call("b")) or call("a")', (A,), T),
        ('call("b") or call("a")', (A,), T),
        ('call("a") -> call("b") -> call("a")', (A,), T),
        ('not not call("a")', (A,), T),
        ("true", (A,), T),
        ("false", (A,), F),
        ('call("*")', (A,), T),
        ('edit("tests/*")', (EDIT,), T),
        ('edit("src/*")', (EDIT,), F),
        ('run("git push*")', (RUN,), T),
        ('run("git push*")', (EDIT,), F),
        ('run("git push*")', (TraceEvent(EventKind.DONE, "Bash", (), "git push origin"),), F),
        ('edit("tests/*")', (TraceEvent(EventKind.DONE, "Edit", ("tests/test_x.py",)),), F),
        (RULE, (EDIT, TESTED), T),
        (RULE, (TESTED, EDIT), F),
        (RULE, (A,), T),
        ('done("a")', (TraceEvent(EventKind.DONE, "a"),), T),
        ('failed("a")', (TraceEvent(EventKind.DONE, "a"),), F),
    ],
)
def test_a_whole_trace_decides(formula: str, events: tuple[TraceEvent, ...], truth: Truth) -> None:
    assert says(formula, *events) is truth


@pytest.mark.parametrize(
    ("formula", "events", "truth"),
    [
        ('always(call("a"))', (A,), U),
        ('always(call("a"))', (A, B), F),
        ('eventually(call("b"))', (A,), U),
        ('eventually(call("b"))', (B,), T),
        ('next(call("b"))', (A,), U),
        ('call("a") until call("b")', (A,), U),
        ('call("a") until call("b")', (C,), F),
        ('never(call("b"))', (B,), F),
        (RULE, (EDIT,), U),
    ],
)
def test_a_trace_that_was_cut_decides_only_what_nothing_could_change(
    formula: str, events: tuple[TraceEvent, ...], truth: Truth
) -> None:
    assert says(formula, *events, is_whole=False) is truth


def test_a_trace_without_events_says_nothing() -> None:
    assert says("true") is U
    assert says('never(call("a"))', is_whole=False) is U


def test_an_event_that_nobody_can_name_is_unknown() -> None:
    assert says('never(edit("tests/*"))', HIDDEN) is U
    assert says('never(edit("tests/*"))', HIDDEN, EDIT) is F
    assert says('eventually(run("make*"))', UNTOLD) is U
    assert says('never(call("Bash"))', UNTOLD) is F


FIRST = "one of true, false, always, eventually, never, next, until, precedes, call, done, failed, edit, run"


@pytest.mark.parametrize(
    ("text", "what", "position"),
    [
        ("", f"'the end' where {FIRST} should stand", 1),
        ("always(", f"'the end' where {FIRST} should stand", 8),
        ("sometimes(true)", f"'sometimes' where {FIRST} should stand", 1),
        ("true and", f"'the end' where {FIRST} should stand", 9),
        ("-> true", f"'->' where {FIRST} should stand", 1),
        ('"true"', f"'\"true\"' where {FIRST} should stand", 1),
        ("call(a)", """'a' where a pattern in quotes, such as "tests/*" should stand""", 6),
        ('call,"a")', "',' where '(' should stand", 5),
        ('call("a"', "'the end' where ')' should stand", 9),
        ('call("a",', "',' where ')' should stand", 9),
        ('call("a) or true', "'\"' has no meaning here", 6),
        ("true ; true", "';' has no meaning here", 6),
        ("true true", "'true' where the end should stand", 6),
        ("(true", "'the end' where ')' should stand", 6),
        ("(true, true)", "',' where ')' should stand", 6),
        ("always!true)", "'!' where '(' should stand", 7),
        ("always(true(", "'(' where ')' should stand", 12),
        ("until(true)", "1 formulas in brackets where 2 should stand", 11),
        ("always(true, true)", "2 formulas in brackets where 1 should stand", 18),
        ("(" * 60 + "true" + ")" * 60, "brackets nest more than 40 deep", 41),
        ("true & " * 400 + "true", "a formula has at most 2000 characters", 2000),
    ],
)
def test_a_formula_that_cannot_be_read_says_what_is_wrong_and_where(text: str, what: str, position: int) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert (str(caught.value), caught.value.position) == (f"{what}, at character {position}", position)


def test_a_formula_may_be_as_long_and_as_deep_as_is_said_and_brackets_beside_each_other_do_not_count() -> None:
    assert parse("true".ljust(2000)) == Constant(T)
    assert parse("(" * 39 + "true" + ")" * 39) == Constant(T)
    assert parse(" & ".join(["(true)"] * 60)) == parse(" & ".join(["true"] * 60))


@pytest.mark.parametrize("text", [f"{'(true) & ' * 60}{'(' * 60}true{')' * 60}", f"{'((true) & ' * 60}true{')' * 60}"])
def test_brackets_that_close_make_no_room_for_deeper_ones(text: str) -> None:
    with pytest.raises(FormulaError, match="brackets nest more than 40 deep"):
        parse(text)


def test_a_text_is_read_as_words_with_their_places() -> None:
    assert list(words(' call("a b") ->!x')) == [
        Word("name", "call", 2),
        Word("sign", "(", 6),
        Word("string", '"a b"', 7),
        Word("sign", ")", 12),
        Word("arrow", "->", 14),
        Word("sign", "!", 16),
        Word("name", "x", 17),
        Word("end", "", 18),
    ]


def test_operators_bind_as_they_are_read() -> None:
    a, b, c = (Atom(AtomKind.CALL, name) for name in "abc")
    assert parse('call("a") and call("b") or call("c")') == Or(And(a, b), c)
    assert parse('not call("a") and call("b")') == And(Not(a), b)
    assert parse('call("a") or call("b") until call("c")') == Until(Or(a, b), c)
    assert parse('call("a") -> call("b") -> call("c")') == Or(Not(a), Or(Not(b), c))


def test_a_pattern_may_hold_quotes_and_words_of_the_language() -> None:
    assert parse(r'call("say \"always(\" -> \\")') == Atom(AtomKind.CALL, 'say "always(" -> \\')


def test_the_event_that_breaks_a_rule_is_found() -> None:
    assert witness(parse(RULE), Trace((TESTED, A, EDIT))) == 2
    assert witness(parse(f'true and never(call("b")) and {RULE}'), Trace((A, B))) == 1
    assert witness(parse('eventually(call("b"))'), Trace((A,))) is None
    assert witness(parse('always(call("a"))'), Trace((A,))) is None


def test_what_is_no_formula_is_refused_and_never_passed_over() -> None:
    with pytest.raises(AssertionError, match="unreachable, but got: 'nothing'"):
        values(cast(Formula, "nothing"), Trace((A,)))


ATOMS = [Atom(AtomKind.CALL, "a"), Atom(AtomKind.CALL, "b"), Constant(T)]
FORMULAS = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(Always, inner),
        st.builds(Eventually, inner),
        st.builds(Next, inner),
        st.builds(And, inner, inner),
        st.builds(Or, inner, inner),
        st.builds(Until, inner, inner),
    ),
    max_leaves=6,
)


def holds(formula: Formula, events: tuple[TraceEvent, ...]) -> bool:
    """The same by the words of the definition, one event after the other."""
    match formula:
        case Constant(truth):
            return truth is T
        case Atom(_, pattern):
            return bool(events) and events[0].tool == pattern
        case Not(inner):
            return not holds(inner, events)
        case And(left, right):
            return holds(left, events) and holds(right, events)
        case Or(left, right):
            return holds(left, events) or holds(right, events)
        case Always(inner):
            return all(holds(inner, events[n:]) for n in range(len(events)))
        case Eventually(inner):
            return any(holds(inner, events[n:]) for n in range(len(events)))
        case Next(inner):
            return len(events) > 1 and holds(inner, events[1:])
        case Until(left, right):
            return any(
                holds(right, events[n:]) and all(holds(left, events[m:]) for m in range(n)) for n in range(len(events))
            )


@given(FORMULAS, st.lists(st.sampled_from([A, B, C]), min_size=1, max_size=6))
def test_every_formula_says_what_its_definition_says(formula: Formula, events: list[TraceEvent]) -> None:
    assert (check(formula, Trace(tuple(events))) is T) == holds(formula, tuple(events))


@given(FORMULAS, st.lists(st.sampled_from([A, B, C]), min_size=1, max_size=3))
def test_what_a_cut_trace_decides_no_continuation_changes(formula: Formula, events: list[TraceEvent]) -> None:
    said = check(formula, Trace(tuple(events), is_whole=False))
    for more in (0, 1, 2):
        for rest in itertools.product([A, B, C], repeat=more):
            whole = holds(formula, (*events, *rest))
            assert said is U or (said is T) == whole


def test_the_documentation_names_every_word_of_the_language() -> None:
    page = (Path(__file__).parents[3] / "docs/library.md").read_text(encoding="utf-8")
    assert [word for word in READ if not re.search(rf"\b{word}\b", page)] == []
