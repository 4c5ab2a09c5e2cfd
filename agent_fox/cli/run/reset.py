"""`agent-fox reset`: a person gives a node a new start. What that means is the engine's."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.exits import Exit
from agent_fox.cli.names import nodes_and_specs
from agent_fox.cli.place import here
from agent_fox.cli.run.finding import find_node
from agent_fox.cli.screen import json_option, plain, print_json
from agent_fox.core.ids import Archetype
from agent_fox.core.late import late_module
from agent_fox.core.retry.standing import Step
from agent_fox.system import clock
from agent_fox.system.state_folders import LOCK, STATE

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox import config
    from agent_fox.cli import story
    from agent_fox.core import words
    from agent_fox.engine.handlers import reset as resetting
    from agent_fox.engine.planning import from_settings
    from agent_fox.engine.record import docket as dockets
    from agent_fox.engine.record import watch
    from agent_fox.evidence import witness
    from agent_fox.store import sessions
    from agent_fox.store import state as states
else:
    story = late_module("agent_fox.cli.story")
    words = late_module("agent_fox.core.words")
    config = late_module("agent_fox.config")
    dockets = late_module("agent_fox.engine.record.docket")
    watch = late_module("agent_fox.engine.record.watch")
    from_settings = late_module("agent_fox.engine.planning.from_settings")
    resetting = late_module("agent_fox.engine.handlers.reset")
    sessions = late_module("agent_fox.store.sessions")
    witness = late_module("agent_fox.evidence.witness")
    states = late_module("agent_fox.store.state")


@click.command("reset", short_help="Give a node new attempts, and unblock what waits for it.")
@click.argument("node", shell_complete=nodes_and_specs)
@click.option("--reason", default="", metavar="TEXT", help="Why; kept with the decision.")
@json_option
def command(node: str, reason: str, as_json: bool) -> None:
    """Give NODE new attempts (a spec's name means its verifier, and the coders that it sends work back to). What
    happened so far is kept, and what fails is told to the next attempt.

    Its spec is verified again, and what was blocked by it alone goes on, with the next `agent-fox run`. Exits 4 while a
    run is on.
    """
    root = here()
    policy = from_settings.policy_of(config.load(root, os.environ))
    states.read_state(root / STATE).close()
    with states.single_writer(root / LOCK), closing(states.open_state(root / STATE)) as db, states.transaction(db):
        refuse_unbelieved(db, root)
        planned = find_node(db, node).node
        node, is_coder = planned.id, planned.archetype is Archetype.CODER
        transaction = dockets.Docket(db, clock.now(), policy, dockets.SpecShelf(), sessions.open_run(db))
        handled = resetting.reset(transaction, node, reason)
    if as_json:
        print_json(_document(node, reason, handled))
    else:
        click.echo("\n".join([*_lines(handled, policy.attempts, is_coder=is_coder), "next: agent-fox run"]))


def refuse_unbelieved(db: Database, root: Path) -> None:
    """A new budget over a history that was cut, or a plan that was changed, would be spent on what is paid already."""
    why = witness.why_unbelieved(db, witness.path_of(os.environ, root))
    if why:
        raise UserError(why, Exit.STUCK)


def _lines(handled: dockets.Handled, attempts: int, *, is_coder: bool) -> list[str]:
    """`3 attempts restored for 03_split:2`, then what else the reset did."""
    steps = (Step.RENEW, Step.RESET) if is_coder else (Step.RENEW,)
    restored = [moved.node_id for moved in handled.transitions if moved.step in steps]
    first = [f"{words.counted(attempts, 'attempt')} restored for {words.listed(restored)}"] if restored else []
    others = replace(handled, transitions=tuple(m for m in handled.transitions if m.step is not Step.RENEW))
    return [plain(line) for line in (*first, *watch.moves_in_words([others]))]


def _document(node: str, reason: str, handled: dockets.Handled) -> dict[str, object]:
    moved = [story.moved_document(transition) for transition in handled.transitions]
    return {"node": node, "reason": reason, "decision": handled.decision_id, "moved": moved}
