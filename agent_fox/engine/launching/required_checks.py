"""What the specification library asks of a coder's work, as facts of its brief. Reviewers' questions are not here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from agent_fox.core.formal.specification import (
    Check,
    Checklist,
    ChosenTests,
    FunctionContract,
    PropertyTests,
    Specification,
    TheoremStatement,
    TraceFormula,
)
from agent_fox.session.briefs.text import Binding, BriefFacts

Named = tuple[tuple[str, str], ...]


def bound_facts(facts: BriefFacts, objects: Iterable[Specification]) -> tuple[Binding, ...]:
    """What binds a requirement that this coder works on, by address."""
    parts = tuple(dict.fromkeys((*(part.id for part in facts.requirements), *(part.id for part in facts.failing))))
    found = (bound_fact(one, facts.spec, parts) for one in objects if one.has_lane)
    return tuple(sorted((one for one in found if one.requirements), key=lambda one: one.address))


def bound_fact(one: Specification, spec_name: str, parts: Iterable[str]) -> Binding:
    bound = tuple(part for part in parts if one.binds(spec_name, part))
    return Binding(one.address, one.kind.value, one.text, bound, checked(one.check), one.doubt)


def checked(check: Check | None) -> Named:
    """What a program looks at, in the words of specifications.toml; nothing where none does."""
    match check:
        case ChosenTests(select, command):
            return (*each("tests", select), *given("command", command))
        case PropertyTests(select, examples):
            return (*each("tests", select), ("examples", str(examples)))
        case TraceFormula(formula):
            return (("formula", formula),)
        case FunctionContract():
            return contract(check)
        case TheoremStatement(goal, axioms):
            return (*given("axioms", axioms), ("goal", goal))
        case Checklist() | None:
            return ()
        case _:
            assert_never(check)


def contract(check: FunctionContract) -> Named:
    target = (("function", check.function), ("signature", check.signature))
    return (*target, *each("pre", check.pre), *each("post", check.post), *each("raises", check.raises))


def each(name: str, values: Iterable[str]) -> Named:
    return tuple((name, value) for value in values)


def given(name: str, value: str) -> Named:
    return ((name, value),) if value else ()
