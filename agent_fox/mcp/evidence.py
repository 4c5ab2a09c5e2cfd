"""Specifications, gates, records and regression memory of a state file as resources: read-only, bounded, JSON.

What they hold is worked out in `agent_fox.evidence`; nothing of the workspace is read, and nothing is decided.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.server.mcpserver.resources import FunctionResource
from sqlite_utils import Database

from agent_fox.core.memory import Remembered
from agent_fox.core.trace import NodeKind
from agent_fox.core.values import Json, to_document, to_object
from agent_fox.evidence.about import TRUSTING_SPECS, UnknownRequirement, bound_to, parts_named, required_by
from agent_fox.evidence.chain import Now, chain_of
from agent_fox.evidence.library import binding
from agent_fox.evidence.promotion import Ground, PromotionState, promotion_state
from agent_fox.store.account import titles_with_gates
from agent_fox.store.ledger import journal, ledger, memory
from agent_fox.store.plan import StoredPart, load_parts
from agent_fox.store.sessions import sessions_where
from agent_fox.store.state import StateError, read_state
from agent_fox.store.traces import onsets_in, trace_of
from agent_fox.system import clock

JSON = "application/json"
MOST = 200
"""Items of one list. What was left out is counted, and can be asked for one by one."""

REGRESSIONS = "verifier://regressions"
LONGEST_TEXT = 2_000
LONGEST_RECORD = 200_000
SHORTEST_ID = 8
SPECIFICATIONS = "evidence://specifications"
TEMPLATES: tuple[tuple[str, str, str, str], ...] = (
    (
        "evidence://specifications/{spec}",
        "specification",
        "A spec's requirements",
        "Every requirement of a spec with its text, its version, and the contracts, properties and checklists bound to "
        "it. Evidence counts for one version of a text.",
    ),
    (
        "evidence://gates/{spec}",
        "gates",
        "The gates of a spec",
        "Where the evidence for each requirement stands (proposed, tested, reviewed, proved, accepted, rejected, "
        "waived), whether that is enough, and which steps are blocked, whose they are, and why.",
    ),
    (
        "evidence://gates/{spec}/{requirement}",
        "gate",
        "The chain of evidence of a requirement",
        "Proven by which records, run by whom, on which commit, in which environment; the history of its gate; blocked "
        "transitions and why; the commands that show it again.",
    ),
    (
        "evidence://records/{id}",
        "record",
        "A record of the ledger",
        "One record, by its id or the beginning of it (8 characters at least): what was run, on what, what came of it.",
    ),
    (
        "verifier://trace/{spec}/{group}",
        "trace",
        "What the last session of a task group did",
        "The states that the files had during the last coder's session of a spec's task group, what was tested on "
        "them, and at which step a test that fails by now began to fail.",
    ),
)
OF_THE_VERIFIER: tuple[tuple[str, str, str, str], ...] = (
    (
        "verifier://gates/{spec}",
        "blocked-gates",
        "What is blocked in a spec",
        "The same as evidence://gates/{spec}: for each requirement its gate, and each step that is blocked: whose it "
        "is, and what is missing.",
    ),
    (
        "verifier://gates/{spec}/{requirement}",
        "blocked-gate",
        "What is blocked of a requirement",
        "The same as evidence://gates/{spec}/{requirement}: its chain of evidence, and why it goes no further.",
    ),
)

T = TypeVar("T")


def add_evidence(server: MCPServer, state: Path) -> None:
    """Offer what the state file holds. It is opened for each answer, so that it may appear later and go on growing."""
    reads: dict[str, Callable[..., str]] = {
        "specification": lambda spec: _text(_read(state, _specification, spec)),
        "gates": lambda spec: _text(_read(state, _gates, spec)),
        "gate": lambda spec, requirement: _text(_read(state, _gate, f"{spec}/{requirement}")),
        "record": lambda id: _text(_read(state, _record, id)),
        "trace": lambda spec, group: _text(_read(state, trace_document, f"{spec}:{group}")),
    }
    for uri, name, title, description in TEMPLATES:
        server.resource(uri, name=name, title=title, description=description, mime_type=JSON)(reads[name])
    server.add_resource(
        FunctionResource(
            uri=SPECIFICATIONS,
            name="specifications",
            title="The specs of the plan",
            description="Every spec of the plan: how many requirements it has, and how many are at which gate.",
            mime_type=JSON,
            fn=lambda: _text(_read(state, _specifications, "")),
        )
    )


def add_memory(server: MCPServer, state: Path) -> None:
    """Offer what once failed, and what is blocked, beside the verifier's own resources."""
    reads: dict[str, Callable[..., str]] = {
        "blocked-gates": lambda spec: _text(_read(state, _gates, spec)),
        "blocked-gate": lambda spec, requirement: _text(_read(state, _gate, f"{spec}/{requirement}")),
    }
    for uri, name, title, description in OF_THE_VERIFIER:
        server.resource(uri, name=name, title=title, description=description, mime_type=JSON)(reads[name])
    server.add_resource(
        FunctionResource(
            uri=REGRESSIONS,
            name="regressions",
            title="What once failed",
            description="Regression memory: tests that failed once, whether they hold now, when they are run again.",
            mime_type=JSON,
            fn=lambda: _text(_read(state, regressions, "")),
        )
    )


def _text(document: object) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2)


def _read(state: Path, answer: Callable[[Database, str], T], name: str) -> T:
    """An answer from the state file. What is not there is an error of the protocol, in words for the client."""
    try:
        with _opened(state) as db:
            return answer(db, name)
    except UnknownRequirement as error:
        raise ResourceNotFoundError(str(error)) from error
    except StateError as error:
        raise ResourceNotFoundError(
            "there is no evidence yet: the state cannot be read, or no run has made it"
        ) from error


@contextmanager
def _opened(state: Path) -> Iterator[Database]:
    with closing(read_state(state)) as db:
        yield db


def _specifications(db: Database, _name: str) -> dict[str, object]:
    rows = titles_with_gates(db)
    specs = [
        {
            "spec": name, "title": title[:LONGEST_TEXT], "requirements": count, "gates": _counted(json.loads(states)),
            "uri": f"{SPECIFICATIONS}/{name}",
        }
        for name, title, count, states in rows[:MOST]
    ]  # fmt: skip
    tip = ledger.tip_of(db)
    return {
        "specifications": specs, "left_out": max(0, len(rows) - MOST), "required": required_by(db),
        "disbelieved": journal.why_others(db),
        "ledger": {"records": tip.position, "head": tip.head},
    }  # fmt: skip


def regressions(db: Database, _name: str) -> dict[str, object]:
    """What fails first, then the rest, the oldest first; what is over is counted alone."""
    items = memory.items(db)
    living = sorted((each for each in items if not each.life.is_over), key=lambda each: not each.life.fails)
    return {
        "regressions": [regression(each) for each in living[:MOST]],
        "left_out": max(0, len(living) - MOST),
        "over": len(items) - len(living),
        "disbelieved": journal.why_others(db, is_whole=True),
    }


def regression(each: Remembered) -> dict[str, object]:
    item, life = each.item, each.life
    return {
        "id": item.id, "requirement": item.address, "version": item.version, "test": each.test.id,
        "command": item.test.line[:LONGEST_TEXT], "counterexample": item.counterexample, "born": item.born.value,
        "status": life.status.value, "watch": life.watch.value, "first_seen": item.first_seen,
        "last_reproduced": life.last_seen, "last_green_on": life.green_on, "cause": item.cause,
        "is_lost": life.is_lost, "may_be_broken_by": list(item.files[:MOST]),
    }  # fmt: skip


def _counted(states: Sequence[str | None]) -> dict[str, int]:
    known = [state for state in states if state]
    return {state: known.count(state) for state in dict.fromkeys(known)}


def _parts(db: Database, spec: str) -> list[StoredPart]:
    parts = load_parts(db, spec) if spec else []
    if not parts:
        known = ", ".join(dict.fromkeys(part.spec_name for part in load_parts(db)))[:LONGEST_TEXT]
        raise ResourceNotFoundError(f"there is no such spec with requirements in the plan; there are: {known}")
    return parts


def _specification(db: Database, spec: str) -> dict[str, object]:
    parts, adopted = _parts(db, spec), binding(db, spec, TRUSTING_SPECS)
    return {
        "spec": spec,
        "requirements": [
            {
                "id": part.id, "address": f"{spec}/{part.id}", "version": part.version,
                "text": part.text[:LONGEST_TEXT],
                "bound": [
                    {**to_object(each), "text": each.text[:LONGEST_TEXT]} for each in bound_to(part, adopted)[:MOST]
                ],
            }
            for part in parts[:MOST]
        ],
        "left_out": max(0, len(parts) - MOST),
    }  # fmt: skip


def _gates(db: Database, spec: str) -> dict[str, object]:
    parts, ground = _parts(db, spec), Ground(db, spec, required_by(db))
    return {
        "spec": spec,
        "required": ground.required,
        "gates": [_short(promotion_state(ground, part)) for part in parts[:MOST]],
        "left_out": max(0, len(parts) - MOST),
        "disbelieved": journal.why_others(db),
    }


def _short(state: PromotionState) -> dict[str, object]:
    return {
        "requirement": state.requirement,
        "gate": state.overall,
        "is_enough": state.is_enough,
        "passed": state.tests.passed,
        "failed": state.tests.failed,
        "unknown": state.tests.unknown,
        "commit": state.artifact_ref.commit,
        "blocked": to_document(state.blocked),
        "uri": f"evidence://gates/{state.spec}/{state.requirement}",
    }


def _gate(db: Database, name: str) -> dict[str, object]:
    """Of one requirement; where the id is that of one with criteria, of each of them."""
    why = journal.why_others(db)
    parts = parts_named(db, name)[:MOST]
    chains = [to_object(chain_of(db, part, Now(), clock.now(), disbelieved=why)) for part in parts]
    return {**chains[0]} if len(chains) == 1 else {"requirements": chains}


def trace_document(db: Database, node: str) -> dict[str, object]:
    """The newest trace of a node by its name, bounded: its last nodes that are more than a look."""
    rows = sessions_where(db, "node_id = ?", [node])
    known = ((row, trace) for row in reversed(rows) if (trace := trace_of(db, row.id)) is not None)
    row, trace = next(known, (None, None))
    if row is None or trace is None:
        raise ResourceNotFoundError("no trace was recorded of such a group; it is written when its session ends")
    nodes = [node for node in trace.nodes if node.kind is not NodeKind.EXPLORATION]
    return {
        "node": node,
        "attempt": row.ticket.attempt,
        "counts": dict(trace.counts),
        "onsets": [_clipped(to_object(finding)) for finding in onsets_in(db, row.id)[:MOST]],
        "nodes": [_clipped({"id": node.id, **to_object(node)}) for node in nodes[-MOST:]],
        "left_out": {**trace.left_out, "nodes before these": max(0, len(nodes) - MOST)},
    }


def _clipped(members: dict[str, Json]) -> dict[str, Json]:
    return {name: value[:LONGEST_TEXT] if isinstance(value, str) else value for name, value in members.items()}


def _record(db: Database, name: str) -> dict[str, object]:
    if re.fullmatch(f"[0-9a-f]{{{SHORTEST_ID},64}}", name) is None:
        raise ResourceNotFoundError(f"a record is named by its id: {SHORTEST_ID} to 64 hex digits")
    records = list(ledger.records(db, "record_id >= ? AND record_id < ?", [name, f"{name}g"]))
    if len(records) != 1:
        raise ResourceNotFoundError("several records begin so" if records else "there is no such record")
    size = len(records[0].content)
    if size > LONGEST_RECORD:
        raise ResourceNotFoundError(f"the record has {size:,} characters; `agent-fox ledger show {name}` shows it")
    return {**to_object(records[0].link), "record": records[0].document}
