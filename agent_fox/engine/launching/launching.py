"""From a ready node to a launch: the rows that are written before the process starts, and the order it is given."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.config import hidden_folder
from agent_fox.core.ids import Archetype, Mode
from agent_fox.core.late import late_module
from agent_fox.core.policy import Start
from agent_fox.core.retry.cut_off import Resume
from agent_fox.core.retry.standing import Status
from agent_fox.core.verdicts.expectations import Sealed
from agent_fox.core.verdicts.hidden import Reveal
from agent_fox.engine.handlers.final_review import review_of
from agent_fox.engine.launching import trails
from agent_fox.engine.launching.agents import agent_of
from agent_fox.engine.launching.briefing import brief_facts
from agent_fox.engine.launching.closing import closing_of, waivers_for
from agent_fox.engine.launching.conflicts import conflict_facts, task_of
from agent_fox.engine.launching.cut_offs import HandedOn, handed_on
from agent_fox.engine.launching.judges import Panel, panel_of
from agent_fox.engine.record.environment import Standpoint, facts, standpoint, with_bound, with_hidden
from agent_fox.engine.record.library import Shelf, checklists, order_for
from agent_fox.engine.record.shared_ids import order_among
from agent_fox.evidence.remembering import limits_of
from agent_fox.evidence.waivers import agreements, grounds_of
from agent_fox.session.briefs.text import brief_json, brief_markdown
from agent_fox.session.built_in.registry import LIBRARY, MEMORY
from agent_fox.session.order import Closing, LaunchOrder, Provisions, Sizes
from agent_fox.session.workspaces.landing import Integration, Style
from agent_fox.specs.places import places_kept
from agent_fox.store import sessions
from agent_fox.store.ledger import memory as remembered
from agent_fox.store.plan import PlannedNode, document_paths, move_node, spec_paths
from agent_fox.store.records import insert, last_sending_back
from agent_fox.store.sessions import LaunchRow, SessionRow
from agent_fox.system import clock
from agent_fox.system.redaction.masking import secret_values
from agent_fox.system.sandbox.bubblewrap import mode_of
from agent_fox.system.state_folders import artifacts_in, file_name, run_caches_in
from agent_fox.verifier.ground.order import CheckOrder, Counterfactual, Untested, write_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlite_utils import Database

    from agent_fox.cluster import places
    from agent_fox.config import AgentSettings, Settings, VerifySettings
    from agent_fox.core.formal.specification import Specification
    from agent_fox.core.retry.replay import Replay
    from agent_fox.engine.launching import remembering
    from agent_fox.engine.record import attempts
    from agent_fox.engine.record.docket import SpecShelf
    from agent_fox.evidence.waivers import Grounds
    from agent_fox.session.agent import Agent
    from agent_fox.store import known
else:
    places = late_module("agent_fox.cluster.places")
    attempts = late_module("agent_fox.engine.record.attempts")
    remembering = late_module("agent_fox.engine.launching.remembering")
    known = late_module("agent_fox.store.known")

MIB = 1024**2
SEPARATOR = ", "
"""Between the names of several judges in a session's row. Who judged is read there, not in settings that may change."""


@dataclass(frozen=True)
class Workshop:
    """Where launches live and what they are made from."""

    settings: Settings
    repo: Path
    launches: Path
    logs: Path
    shelf: SpecShelf
    engine: str = ""
    """Who is asked to run what has no place of its own, by its name; empty: this machine."""
    is_here: bool = False
    """Whether nothing is launched elsewhere than on this machine, whatever `[places]` and `[cluster]` say."""
    looked_up: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What stays as it is while the plan does, by name, so that no launch costs more in a larger plan."""

    def spec_places(self, db: Database) -> tuple[str, ...]:
        """Where the specs of the plan lie: what a coder may only tick boxes in."""
        if "spec places" not in self.looked_up:
            self.looked_up["spec places"] = places_kept(self.repo, spec_paths(db), document_paths(db))
        return self.looked_up["spec places"]

    def agent(self, planned: PlannedNode, rung: int) -> AgentSettings:
        return self.settings.agent_for(planned.node.archetype, planned.node.spec_name, rung)

    def standpoint(self, db: Database, planned: PlannedNode, rung: int) -> Standpoint:
        """Where and by whom a session of this node would judge now; what binds the spec is part of it. Of a coder, who
        would work.
        """
        agent = self.agent(planned, rung)
        now = standpoint(self.settings, agent, self.workers(planned), self.container(planned))
        if planned.node.archetype is Archetype.CODER:
            return replace(now, verifier=agent.name)
        verifier = with_bound(now.verifier, self.binding(db, planned))
        return replace(now, verifier=with_hidden(verifier, self.hidden(planned)))

    @property
    def is_placed(self) -> bool:
        return bool(self.settings.places) and not self.is_here

    def place(self, planned: PlannedNode) -> str:
        """The first of `[places]` that sessions of the node fit in, else their archetype."""
        return places.tag_of(planned.node, self.settings.places) if self.is_placed else planned.node.archetype.value

    def workers(self, planned: PlannedNode) -> str:
        """The class of workers that does sessions of the node; empty for this machine."""
        is_elsewhere = self.is_placed or (bool(self.settings.cluster.engine) and not self.is_here)
        return places.class_of(self.place(planned), self.settings) if is_elsewhere else ""

    def container(self, planned: PlannedNode, launch: str = "") -> str:
        """What sessions of the node are kept apart by instead of the sandbox, as an order has it; empty for none."""
        return places.container_at(self.place(planned), self.settings, launch) if self.is_placed else ""

    def runner(self, planned: PlannedNode) -> str:
        """Who is asked to run launches of the node, by its name; empty: this machine."""
        own = places.runner_of(self.place(planned), self.settings) if self.is_placed else ""
        return "" if self.is_here else own or self.engine

    def hidden(self, planned: PlannedNode) -> Path | None:
        """The folder of checks that no coder sees, for a verifier's session."""
        is_verifier = planned.node.archetype is Archetype.VERIFIER
        return hidden_folder(self.settings, self.repo) if is_verifier else None

    def binding(self, db: Database, planned: PlannedNode) -> tuple[Specification, ...]:
        """What of the specification library a verifier's session has to check; nothing for others."""
        return self.adopted(db, planned) if planned.node.archetype is Archetype.VERIFIER else ()

    def adopted(self, db: Database, planned: PlannedNode) -> tuple[Specification, ...]:
        """What of the specification library binds requirements of the node's spec, and can be checked by programs."""
        return Shelf(self.repo, self.settings, os.environ).with_lane(db, planned.node.spec_name)

    def nameable(self, db: Database, planned: PlannedNode) -> tuple[Specification, ...]:
        """What a coder's brief may name of it; nothing for others."""
        return self.adopted(db, planned) if planned.node.archetype is Archetype.CODER else ()

    def judges(self, db: Database, planned: PlannedNode, agent: AgentSettings) -> str:
        """The names of those who are asked, as the session's row has them. What is remembered is read first."""
        first = (MEMORY,) if self.has_memory(db, planned) else ()
        return SEPARATOR.join((*first, *agent.backends, *((LIBRARY,) if self.binding(db, planned) else ())))

    def has_memory(self, db: Database, planned: PlannedNode) -> bool:
        """Whether a verifier's session begins with a pre-reading."""
        is_verifier = planned.node.archetype is Archetype.VERIFIER
        return is_verifier and self.settings.memory.pre_reading and remembered.has_items(db, planned.node.spec_name)

    def order(self, db: Database, planned: PlannedNode, session: SessionRow, launch: LaunchRow) -> LaunchOrder:
        """The order of a launch. The same rows give the same order, so that a crashed launch can be harvested."""
        node, ticket = planned.node, session.ticket
        file = self.shelf.take(db, node.spec_name)
        agent, container = self.agent(planned, session.rung), self.container(planned, launch.id)
        conflict, secrets = conflict_facts(db, self.repo, session), secret_values({**os.environ, **agent.environment})
        handed_on = self.handed_on(db, planned, session, launch, secrets)
        replay, start = self.start(db, planned, session, launch, handed_on)
        facts = brief_facts(
            db, planned, session, file, repo=self.repo, secrets=secrets, conflict=conflict,
            questions=self.questions(db, planned), adopted=self.nameable(db, planned), cut_off=handed_on.facts,
            replay=replay,
            memory=limits_of(self.settings),
        )  # fmt: skip
        return LaunchOrder(
            launch=launch.id,
            node_id=node.id,
            node_uid=node.uid,
            spec_name=node.spec_name,
            archetype=node.archetype,
            mode=node.mode,
            group=node.group,
            run=str(session.run_id),
            attempt=ticket.attempt,
            reading=ticket.reading,
            pinned=launch.pinned,
            repo=self.repo,
            state=Path(launch.folder),
            log=self.logs / f"{file_name(node.id)}.{ticket.attempt}.{ticket.reading}.{launch.number}.log",
            agent=contained(agent_of(agent), container),
            assumed_usd=agent.assumed_cost_usd,
            workspace=self.provisions(),
            brief_markdown=brief_markdown(facts),
            brief_json=brief_json(facts),
            keeps_brief=True,
            keeps_transcript=self.settings.training.keep == "full",
            spec_places=self.spec_places(db),
            message=commit_message(planned, session),
            document=self.document(planned, db, launch.pinned, container),
            changes=self.settings.verify.changes,
            format_apply=self.settings.verify.format_apply,
            sandbox=container or self.settings.verify.sandbox,
            artifacts=str(self.artifacts),
            formats=tuple(self.settings.verify.formats),
            unmerged=task_of(db, self.repo, ticket),
            sizes=self.sizes(),
            other_specs=self.settings.policy.other_specs,
            landed_text=self.settings.policy.landed_text,
            closing=self.closing(db, planned, session, launch),
            resume=handed_on.tree or start,
            handoff=handed_on.text,
            place=self.place(planned),
        )

    def handed_on(
        self, db: Database, planned: PlannedNode, session: SessionRow, launch: LaunchRow, secrets: Iterable[str]
    ) -> HandedOn:
        """What a coder is given of its last session where that was cut off; nothing for others."""
        if planned.node.archetype is not Archetype.CODER:
            return HandedOn()
        return handed_on(db, self.repo, session, launch, Resume(self.settings.retry.resume), secrets)

    def start(
        self, db: Database, planned: PlannedNode, session: SessionRow, launch: LaunchRow, handed_on: HandedOn
    ) -> tuple[Replay | None, str]:
        """What a coder is told of where its last work broke, and the tree that it starts from instead of the branch's;
        nothing for others, nor for one that finishes a merge. What it was given of a session that was cut off comes
        first.
        """
        is_free = planned.node.archetype is Archetype.CODER and task_of(db, self.repo, session.ticket) is None
        if not is_free:
            return None, ""
        sent = last_sending_back(db, session.spec_name, session.ticket.node_uid)
        chosen = attempts.chosen_in(sent.facts, session.ticket.node_uid) if sent else None
        start = chosen or Start(self.settings.retry.start)
        return trails.handed(db, self.repo, session, launch, start, is_told_only=handed_on.facts is not None)

    def questions(self, db: Database, planned: PlannedNode) -> tuple[str, ...]:
        """What the checklists of the specification library ask a final reviewer."""
        if planned.node.mode is not Mode.FINAL_REVIEW:
            return ()
        asked = checklists(Shelf(self.repo, self.settings, os.environ).adopted(db, planned.node.spec_name))
        return tuple(f"{address}: {item}" for address, items in asked.items() for item in items)

    def closing(self, db: Database, planned: PlannedNode, session: SessionRow, launch: LaunchRow) -> Closing:
        """What a coder's work is held to when it ends; nothing for others."""
        if planned.node.archetype is not Archetype.CODER:
            return Closing()
        spec = self.shelf.take(db, planned.node.spec_name).spec
        grounds, task_id = (
            grounds_of(self.repo, self.settings, os.environ),
            f"{planned.node.id}@{session.ticket.attempt}",
        )
        waivers = waivers_for(db, grounds, clock.now(), task_id)
        return closing_of(self.settings, self.repo, launch.pinned, spec, waivers)

    @property
    def integration(self) -> Integration:
        """The branch that work lands on, as the settings have it."""
        own = self.settings.git
        accepts = own.foreign_commits == "accept"
        return Integration(self.repo, own.integration_branch, Style(own.landing), accepts)

    def sizes(self) -> Sizes:
        workspace = self.settings.workspace
        return Sizes(workspace.largest_file_mib * MIB, workspace.largest_change_mib * MIB)

    @property
    def artifacts(self) -> Path:
        """Where full logs of checks are kept; `agent-fox logs` shows them by their address."""
        return artifacts_in(self.launches.parent)

    def panel(self, db: Database, planned: PlannedNode, session: SessionRow, launch: LaunchRow) -> Panel:
        """The orders of a launch: one for each backend that is configured."""
        order = self.order(db, planned, session, launch)
        return panel_of(order, session.backend.split(SEPARATOR))

    def provisions(self) -> Provisions:
        workspace = self.settings.workspace
        setup = tuple(line if isinstance(line, str) else tuple(line) for line in workspace.setup)
        return Provisions(setup, tuple(workspace.copies), tuple(workspace.link))

    def document(self, planned: PlannedNode, db: Database, pinned: str = "", container: str = "") -> dict[str, object]:
        """What the built-in `checks` judge needs to know; empty for nodes that judge nothing.

        `container` keeps its commands apart. `pinned`: the commit that is judged; without one no onset is searched for.
        """
        if planned.node.archetype is not Archetype.VERIFIER:
            return {}
        file, verify = self.shelf.take(db, planned.node.spec_name), self.settings.verify
        grounds = grounds_of(self.repo, self.settings, os.environ)
        order = replace(
            as_set(order_among(file.spec, self.shelf.ids(db)), verify, container),
            stated=sessions.stated(db, planned.node.spec_name),
            sealed=Sealed(verify.sealed),
            is_reviewed=review_of(db, planned.node.spec_name) is not None,
            hidden=str(hidden_folder(self.settings, self.repo) or ""),
            reveal=Reveal(verify.reveal),
            agreed=agreements(db, grounds, clock.now(), planned.node.spec_name),
            spec_files={part.id: file.spec.place(part.id).rpartition(":")[0] for part in file.parts},
            artifacts=str(self.artifacts),
            flaky_file=str(self.launches.parent / "flaky.json"),
            proofs_folder=str(self.launches.parent / "proofs"),
            caches_folder=str(run_caches_in(self.launches.parent)) if verify.build_caches else "",
            trail=trails.trail_of(db, self.repo, file.spec.name, pinned)
            if pinned and self.settings.retry.onset
            else (),
        )
        document: dict[str, object] = json.loads(write_order(order))
        objects = self.binding(db, planned)
        library = {LIBRARY: order_for(db, planned.node.spec_name, objects, self.repo)} if objects else {}
        return document | library | (self.memory(db, planned, grounds, pinned) if self.has_memory(db, planned) else {})

    def memory(self, db: Database, planned: PlannedNode, grounds: Grounds, pinned: str) -> dict[str, object]:
        """What the judge `memory` runs."""
        limits, spec_name = limits_of(self.settings), planned.node.spec_name
        return {MEMORY: remembering.order_for(db, grounds, spec_name, self.repo, pinned, limits)}


def contained(agent: Agent, container: str) -> Agent:
    """The agent as it is kept apart: in a container, where there is one."""
    return replace(agent, sandbox=container) if container else agent


def as_set(order: CheckOrder, verify: VerifySettings, container: str = "") -> CheckOrder:
    """The order as the settings want it: what runs, within which limits, and what follows."""
    return replace(
        order,
        configured=tuple(verify.commands),
        reports=tuple(verify.reports),
        untested=Untested(verify.untested),
        counterfactual=Counterfactual(verify.counterfactual),
        counts_not_shown=verify.undecided == "count",
        timeout=verify.timeout,
        sandbox=mode_of(container or verify.sandbox),
        network=verify.network,
        memory=verify.memory_mib * 1024**2,
        processes=verify.processes,
    )


def commit_message(planned: PlannedNode, session: SessionRow) -> str:
    title = planned.node.title or f"group {planned.node.group}"
    ticket = f"{planned.node.id}@{session.ticket.attempt}"
    return f"{planned.node.id}: {title}\n\nAgent-Fox-Node: {planned.node.id}\nAgent-Fox-Ticket: {ticket}\n"


def begin(
    db: Database, workshop: Workshop, planned: PlannedNode, run_id: int, pinned: str, launch: str, at: str
) -> tuple[SessionRow, LaunchRow, bool]:
    """Write what a launch needs before its process starts, in the open transaction.

    A ticket that was launched before keeps its session: only the launch is new. The flag says whether the session is.
    """
    before = sessions.session_by_ticket(db, planned.standing.ticket)
    number = before.id if before else _new_session(db, workshop, planned, run_id, pinned, at)
    if before:
        agent = workshop.agent(planned, before.rung)
        now = {
            "backend": workshop.judges(db, planned, agent), "assumed_cost_usd": agent.assumed_cost_usd,
            **asdict(workshop.standpoint(db, planned, before.rung)),
        }  # fmt: skip
        sessions.set_session(db, number, {"status": "running", "pinned_commit": pinned, **now})
    count = sessions.launch_number(db, number)
    folder = workshop.launches / launch
    row = {"id": launch, "session_id": number, "run_id": run_id, "number": count, "status": "running"}
    runner = workshop.runner(planned)
    where = {"folder": str(folder), "runner": runner}
    sessions.start_launch(db, {**row, "pinned_commit": pinned, "started_at": at, **where})
    move_node(db, running(planned).standing, None)
    return (
        sessions.session_by_id(db, number),
        LaunchRow(launch, number, count, "running", pinned, str(folder), None, None, runner),
        before is None,
    )


def _new_session(db: Database, workshop: Workshop, planned: PlannedNode, run_id: int, pinned: str, at: str) -> int:
    node, standing = planned.node, planned.standing
    agent = workshop.agent(planned, standing.rung)
    row = {"run_id": run_id, "node_id": node.id, "node_uid": node.uid, "spec_name": node.spec_name}
    more = {
        "archetype": node.archetype,
        "mode": node.mode,
        "attempt": standing.attempt,
        "reading": standing.reading,
    }
    last = {
        "status": "running",
        "backend": workshop.judges(db, planned, agent),
        "rung": standing.rung,
        "pinned_commit": pinned,
    }
    assumed = {"assumed_cost_usd": agent.assumed_cost_usd, "started_at": at}
    judged = asdict(workshop.standpoint(db, planned, standing.rung))
    known.note_environment(
        db,
        at,
        run_id,
        judged["environment"],
        facts(workshop.settings.verify, workshop.workers(planned), workshop.container(planned)),
    )
    return insert(db, "sessions", {**row, **more, **last, **assumed, **judged})


def running(planned: PlannedNode) -> PlannedNode:
    """The node as it stands while its session runs."""
    return with_status(planned, Status.RUNNING)


def waiting(planned: PlannedNode) -> PlannedNode:
    """The node as it stands when its launch was lost: the same ticket is awaited again."""
    return with_status(planned, Status.PENDING)


def with_status(planned: PlannedNode, status: Status) -> PlannedNode:
    return replace(planned, standing=replace(planned.standing, status=status, outcome=None))
