"""`agent-fox replay-from`: a person chooses where a coder's next session starts. What that means is the engine's."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

import click

from agent_fox.cli.errors import UserError
from agent_fox.cli.names import nodes
from agent_fox.cli.place import here
from agent_fox.cli.run.finding import find_node
from agent_fox.cli.run.reset import refuse_unbelieved
from agent_fox.cli.screen import json_option, plain, print_json
from agent_fox.core.late import late_module
from agent_fox.system import clock
from agent_fox.system.state_folders import LOCK, STATE

if TYPE_CHECKING:
    from agent_fox import config
    from agent_fox.cli.run import trace as traces
    from agent_fox.engine.launching import trails
    from agent_fox.engine.planning import from_settings
    from agent_fox.engine.record import docket as dockets
    from agent_fox.store import sessions
    from agent_fox.store import state as states
else:
    config = late_module("agent_fox.config")
    traces = late_module("agent_fox.cli.run.trace")
    trails = late_module("agent_fox.engine.launching.trails")
    from_settings = late_module("agent_fox.engine.planning.from_settings")
    dockets = late_module("agent_fox.engine.record.docket")
    sessions = late_module("agent_fox.store.sessions")
    states = late_module("agent_fox.store.state")


@click.command("replay-from", short_help="Let a coder's next session start from a step of an earlier one.")
@click.argument("node", shell_complete=nodes)
@click.argument("step", type=click.IntRange(0))
@click.option("--attempt", type=click.IntRange(1), metavar="N", help="Of which attempt. Unset: the last.")
@click.option("--reason", default="", metavar="TEXT", help="Why; kept with the decision.")
@json_option
def command(node: str, step: int, attempt: int | None, reason: str, as_json: bool) -> None:
    """Let the next session of NODE, a coder, start from the files as they were after STEP of an earlier session;
    `agent-fox trace NODE` lists the steps. What others landed since stays. A node that is done or stopped gets new
    attempts, as `agent-fox reset` gives them.

    The session starts with the next `agent-fox run`. Exits 4 while a run is on.
    """
    root = here()
    policy = from_settings.policy_of(config.load(root, os.environ))
    states.read_state(root / STATE).close()
    with states.single_writer(root / LOCK), closing(states.open_state(root / STATE)) as db, states.transaction(db):
        refuse_unbelieved(db, root)
        planned = find_node(db, node)
        session = traces.session_with_trace(db, planned.node.uid, planned.node.id, attempt)
        transaction = dockets.Docket(db, clock.now(), policy, dockets.SpecShelf(), sessions.open_run(db))
        try:
            handled = trails.start_from(transaction, planned, session, step, reason)
        except trails.NoSuchStep as error:
            raise UserError(str(error)) from error
    about = {"node": planned.node.id, "attempt": session.ticket.attempt, "step": step, "session": session.id}
    if as_json:
        print_json({**about, "decision": handled.decision_id if handled else None})
    else:
        where = f"step {step} of attempt {session.ticket.attempt}"
        click.echo(f"{plain(planned.node.id)} starts again from the files after {where}")
        click.echo("next: agent-fox run")
