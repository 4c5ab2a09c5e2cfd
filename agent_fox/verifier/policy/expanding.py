"""Every assertion that a test comes to: local names, helpers, loops and parameters put in. Nothing is judged here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count, islice

from agent_fox.core.values import dataclass
from agent_fox.verifier.policy.expressions import Tokens, substituted
from agent_fox.verifier.policy.reading import Assertion, Bind, Check, Function, Rows, Step, Use, put

DEEPEST_HELPER = 4
MOST_ASSERTIONS = 2_000  # of one test; more are of no interest to a comparison
MOST_STEPS = 20_000  # of one test, helpers and rows counted in


@dataclass(frozen=True, slots=True)
class Expansion:
    """The helpers that a test may call, by their last name."""

    helpers: Mapping[str, Function]

    def assertions(self, test: Function) -> tuple[Assertion, ...]:
        return tuple(islice(self._walk(test.steps, {}, 0, count()), MOST_ASSERTIONS))

    def _walk(
        self, steps: tuple[Step, ...], values: dict[str, Tokens], depth: int, taken: Iterator[int]
    ) -> Iterator[Assertion]:
        times_bound = Counter(step.name for step in steps if isinstance(step, Bind))
        known = dict(values)
        for step in steps:
            if next(taken) > MOST_STEPS:
                return
            match step:
                case Bind(name, value):
                    known.pop(name, None)
                    if times_bound[name] == 1:
                        known[name] = substituted(value, known)
                case Check(assertion):
                    yield put(assertion, known)
                case Use():
                    yield from self._called(step, known, depth, taken)
                case Rows(names, rows, inner):
                    for row in rows:
                        yield from self._walk(inner, known | dict(zip(names, row, strict=False)), depth, taken)

    def _called(self, use: Use, values: dict[str, Tokens], depth: int, taken: Iterator[int]) -> Iterator[Assertion]:
        helper = self.helpers.get(use.function)
        if helper is None or depth >= DEEPEST_HELPER:
            if use.otherwise is not None:
                yield put(replace(use.otherwise, guard=use.guard), values)
            return
        given = [substituted(argument, values) for argument in use.arguments]
        for assertion in self._walk(helper.steps, dict(bound_arguments(helper.parameters, given)), depth + 1, taken):
            guard = (*substituted(use.guard, values), *assertion.guard)
            yield replace(assertion, guard=guard, line=use.line)


def bound_arguments(parameters: tuple[str, ...], given: list[Tokens]) -> Iterator[tuple[str, Tokens]]:
    """Which parameter gets which argument: `name=value` by name, the others in order."""
    free = list(parameters)
    for argument in given:
        if len(argument) > 2 and argument[1] == "=" and argument[0] in parameters:
            yield argument[0], argument[2:]
        elif free:
            yield free.pop(0), argument
