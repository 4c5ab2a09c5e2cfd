"""The run of a repository as one document, read for `report`, `view` and whoever shows a run. Prints nothing."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from agent_fox.cli.errors import UserError
from agent_fox.cli.opening import before_waiving, reading, waivers_of
from agent_fox.cli.place import held_for
from agent_fox.cli.run.status import judged_away, tip_tree, untouched
from agent_fox.config import load
from agent_fox.engine.account.account import read_account
from agent_fox.engine.account.overview import read_overview, takeover
from agent_fox.engine.account.run_document import RunDocument, read_run
from agent_fox.engine.planning.from_settings import policy_of
from agent_fox.evidence import witness
from agent_fox.store.state import is_locked
from agent_fox.system.clock import now
from agent_fox.system.state_folders import LOCK


def whole_run(root: Path, *, number: int | None = None, most: int = 0) -> RunDocument:
    """The last run, or the one named. `most` as in `read_run`. Raises UserError for a run that there is none of."""
    settings = load(root, os.environ)
    with reading(root) as db:
        lost = witness.why_lost(db, witness.path_of(os.environ, root))
        tree = tip_tree(root)
        try:
            account = read_account(
                db, run_id=number, tip_tree=tree, in_force=waivers_of(root, db), untouched=untouched(root, db, tree),
                **judged_away(root, db),
                lost=f"the history does not hold together, and proves nothing: {lost}" if lost else "",
            )  # fmt: skip
        except KeyError:
            raise UserError(f"run {number}: there is no such run; `agent-fox status` names the last") from None
        is_alive = account.status == "running" and is_locked(root / LOCK)
        account = replace(account, seconds=account.seconds + held_for(root)) if is_alive else account.at_rest()
        overview = read_overview(
            db, account, is_alive=is_alive, work=lambda: takeover(root, settings.git.integration_branch),
            can_sign=lambda: not before_waiving(root),
        )  # fmt: skip
        ceiling = settings.limits.cost_usd
        return read_run(
            db, root, account, overview, made_at=now(), is_alive=is_alive, ceiling_usd=ceiling, most=most,
            policy=policy_of(settings),
        )  # fmt: skip
