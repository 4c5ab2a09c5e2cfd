"""Settings as values that the engine works with (its policy, the folder of its state), and the refusal of a run."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.late import late_module
from agent_fox.core.ledger.gates import Gate
from agent_fox.core.policy import EVERY_SPEC, Policy, Start, Switch
from agent_fox.system.state_folders import default_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_fox.config import Settings
    from agent_fox.core.retry import arms
else:
    arms = late_module("agent_fox.core.retry.arms")


CHANCES = Path(__file__).with_name("chances.toml")


class RunRefused(Exception):
    """The run does not start. Its text says what is wrong, where, and what to do; nothing has been changed."""


class RunStuck(RunRefused):
    """The run cannot start just now: something outside of it is in the way, which is no mistake of the settings."""


def state_folder(root: Path, settings: Settings, environ: Mapping[str, str]) -> Path:
    """The folder of all repositories' state: `[workspace] state`, or the person's own. Raises RunRefused."""
    if settings.workspace.state:
        return own_state_folder(root, settings.workspace.state)
    return default_state(environ)


def own_state_folder(root: Path, state: str) -> Path:
    """`[workspace] state`, counted from the repository's root. Raises RunRefused for an unknown `~name`."""
    try:
        return (root / Path(state).expanduser()).resolve()
    except RuntimeError as error:
        raise RunRefused(f"[workspace] state = {state!r}: {error}") from error


def by_worth_of(settings: Settings) -> arms.ByWorth | None:
    """How coders' next attempts are chosen by their worth; None where the ladder alone says who is next."""
    if settings.retry.policy != "arms":
        return None
    names = (EVERY_SPEC, *settings.specs.named)
    ladders = {name: [settings.agent_for("coder", name, rung) for rung in rungs_of(settings, name)] for name in names}
    return arms.ByWorth(
        settings.retry.worth_usd,
        shipped_chances(),
        {name: tuple(agent.name for agent in ladder) for name, ladder in ladders.items()},
        {name: max(agent.assumed_cost_usd for agent in ladder) for name, ladder in ladders.items()},
    )


def rungs_of(settings: Settings, spec_name: str) -> range:
    return range(settings.rungs_of(Archetype.CODER, spec_name) + 1)


def shipped_chances() -> arms.Chances:
    """The table that ships: what an attempt is worth before a project has figures of its own."""
    table = tomllib.loads(CHANCES.read_text(encoding="utf-8"))
    starts = {Start(name): float(factor) for name, factor in table["starts"].items()}
    return arms.Chances(table["weight"], tuple(table["same"]), tuple(table["another"]), starts)


def policy_of(settings: Settings) -> Policy:
    """The settings that deciding needs, as values of the core."""
    coder = Archetype.CODER.value
    readers = [
        (archetype, name) for archetype in ("verifier", "reviewer") for name in (EVERY_SPEC, *settings.specs.named)
    ]
    return Policy(
        attempts=settings.retry.attempts,
        readings=settings.retry.readings,
        review_attempts=settings.retry.review_attempts,
        stop_without_progress=settings.retry.stop_without_progress,
        keep_best=settings.retry.keep_best and (settings.retry.start != "tip" or settings.retry.policy == "arms"),
        start=Start(settings.retry.start),
        candidates=settings.retry.candidates,
        goes_on_after_escalation=settings.policy.on_escalation == "continue",
        required_state=Gate(settings.policy.required_state),
        top_rung=settings.rungs_of(coder, ""),
        top_rungs={name: settings.rungs_of(coder, name) for name in settings.specs.named},
        switch=Switch(settings.retry.switch),
        second_agent=settings.has_second_agent(coder, ""),
        second_agents={name: settings.has_second_agent(coder, name) for name in settings.specs.named},
        reading_rungs={(archetype, name): settings.rungs_of(archetype, name) for archetype, name in readers},
    )
