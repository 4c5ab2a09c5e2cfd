"""What the tests of each requirement do before any work, on a screen and as JSON: `plan --red`, `lint --run`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from agent_fox.cli.exits import Exit
from agent_fox.cli.screen import plain, title
from agent_fox.core.verdicts.red import Now, RedWord

if TYPE_CHECKING:
    from agent_fox.engine.doors.red_tests import RedSpec

UNPROVABLE = "without a test that can fail"


def red_lines(specs: Sequence[RedSpec]) -> Iterator[str]:
    """A line for each spec with its counts, below it one for each requirement, and the sum."""
    for spec in specs:
        yield from _spec(spec)
    if len(specs) > 1:
        yield _counts(part for spec in specs for part in spec.told)


def _spec(spec: RedSpec) -> Iterator[str]:
    if not spec.is_asked:
        judges = plain(", ".join(spec.judges))
        yield f"{title(spec.name)}: verified by {judges}: no tests are asked for"
        return
    yield f"{title(spec.name)}: {_counts(spec.told)}"
    if spec.note:
        yield plain(f"  {spec.note}")
    names = max((len(part.requirement_id) for part in spec.told), default=0)
    words = max((len(part.now) for part in spec.told), default=0)
    for part in spec.told:
        yield plain(f"  {part.requirement_id:<{names}}  {part.now:<{words}}  {part.why}").rstrip()


def _counts(parts: Iterable[RedWord]) -> str:
    every = list(parts)
    numbers = Counter(part.now for part in every)
    counts = ", ".join(f"{numbers[now]} {now}" for now in Now if numbers[now])
    lacking = sum(not part.now.can_fail for part in every)
    return f"{counts or 'nothing to prove by tests'}" + (f"; {lacking} {UNPROVABLE}" if lacking else "")


def red_document(specs: Sequence[RedSpec]) -> list[dict[str, object]]:
    """One object a spec; `requirements` is empty where tests are not asked for."""
    return [
        {
            "spec": spec.name,
            "judges": list(spec.judges),
            "note": spec.note,
            "requirements": [
                {"id": part.requirement_id, "now": part.now.value, "can_fail": part.now.can_fail, "why": part.why,
                 "tests": list(part.tests)}
                for part in spec.told
            ],
        }
        for spec in specs
    ]  # fmt: skip


def red_exit(specs: Sequence[RedSpec]) -> Exit:
    """2 where a requirement has no test that was seen to fail: nothing could be proven of it by tests."""
    return Exit.DONE if all(spec.can_all_fail for spec in specs) else Exit.UNPROVEN
