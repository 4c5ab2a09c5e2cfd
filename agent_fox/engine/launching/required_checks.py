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
    bindings = (bound_fact(each, facts.spec, parts) for each in objects if each.has_lane)
    return tuple(sorted((each for each in bindings if each.requirements), key=lambda each: each.address))


def bound_fact(specification: Specification, spec_name: str, parts: Iterable[str]) -> Binding:
    requirements = tuple(part for part in parts if specification.binds(spec_name, part))
    return Binding(
        specification.address,
        specification.kind.value,
        specification.text,
        requirements,
        checked(specification.check),
        specification.doubt,
    )


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
