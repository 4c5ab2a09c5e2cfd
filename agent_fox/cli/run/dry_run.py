"""`agent-fox run --dry-run`: what would run, in which order, and what it may cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from agent_fox.cli.exits import Exit
from agent_fox.cli.screen import plain, print_json
from agent_fox.core.words import counted
from agent_fox.engine.planning.forecast import Forecast, forecast

if TYPE_CHECKING:
    from agent_fox.engine.planning.workplace import RunOptions, Workplace


def show(workplace: Workplace, options: RunOptions, *, as_json: bool) -> Exit:
    forecast_ = forecast(workplace, options)
    if as_json:
        print_json(forecast_.document())
    else:
        click.echo("\n".join(lines(forecast_)))
    return Exit.DONE


def lines(found: Forecast) -> Iterator[str]:
    yield from (plain(f"plan: {line}") for line in found.changes)
    width = max((len(step.node) for step in found.steps), default=0)
    for step in found.steps:
        yield plain(
            f"{step.node:<{width}}  {step.archetype:<8}  attempt {step.attempt}  ${step.cost_usd:.2f}  {step.title}"
        ).rstrip()
    for archetype, estimate in found.estimates.items():
        yield f"a {archetype}'s session: ${estimate.cost_usd:.2f}, {estimate.source}"
    sessions = counted(len(found.steps), "session")
    yield f"{sessions}, about ${found.cost_usd:.2f} if each succeeds at once; nothing was started"
