"""A run's events as lines that read as a story, and as JSON objects. Prints nothing, decides nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.cli.place import near
from agent_fox.cli.screen import columns, cut
from agent_fox.core.ids import Archetype
from agent_fox.core.retry.standing import Outcome, Step
from agent_fox.core.words import listed
from agent_fox.store.account import texts
from agent_fox.store.history import Ruling, ruling
from agent_fox.store.state import read_state
from agent_fox.system.state_folders import STATE

if TYPE_CHECKING:
    from agent_fox.engine.record.docket import Handled, Transition
    from agent_fox.engine.record.watch import RunEvent
    from agent_fox.store.plan import PlannedNode

WIDEST_NAME = 28
CLOCK = len("12:00:00  ")
LEAST_TEXT = 40
MOST_TEXTS = 3
_BACK = frozenset({Step.RECODE, Step.RETRY, Step.SEND_BACK})
_DECIDED = frozenset({"decided", "harvested"})
_DONE = {"file": "filed", "comment": "commented", "close": "closed", "reopen": "reopened"}
_SILENT = frozenset({"landed", "started"})  # told by the decision, and by the header
OTHER_WORDS = {"infrastructure": "lost, tried again later"}
"""What a kind of event is called where its own name is a word of the code."""


@dataclass
class Story:
    """Words for the events of one run. What a decision was made from is read from the state, where it stands.

    `proven` is said of a verifier that is content; another word where more than its verdict is required.
    """

    root: Path
    attempts: int
    width: int = 0
    proven: str = "PROVEN"

    def lines(self, event: RunEvent) -> list[str]:
        """What a person should know of it, each line beginning with the node it is about; often nothing."""
        if event.kind in _SILENT:
            return []
        if event.kind in _DECIDED and event.handled is not None and event.planned is not None:
            return list(self._decided(event.planned, event.handled))
        if event.kind == "reopened" and event.handled is not None:
            ruling = self.ruling(event.handled)
            why = ruling.note if ruling is not None else ""
            return [self._line(t.node_id, f"is verified again: {why}") for t in event.handled.transitions]
        if event.kind == "launched" and event.planned is not None:
            return [self._line(event.planned.node.id, begins(event.planned))]
        if event.planned is not None:
            what = OTHER_WORDS.get(event.kind, event.kind)
            return [self._line(event.planned.node.id, f"{what}: {event.text}")]
        return [near(self.root, issue_words(event.text) if event.kind == "issue" else event.text)]

    @property
    def room(self) -> int:
        """Columns that a text has beside the time and the node, which are short of it only on a narrow terminal."""
        return max(columns() - CLOCK - self.width - 2, LEAST_TEXT)

    def _line(self, node: str, text: str) -> str:
        self.width = max(self.width, min(len(node), WIDEST_NAME))
        return f"{node:<{self.width}}  {text}"

    def ruling(self, handled: Handled) -> Ruling | None:
        """The recorded decision, None for what was ignored."""
        number = handled.decision_id
        if number is None:
            return None
        with closing(read_state(self.root / STATE)) as db:
            return ruling(db, number)

    def texts(self, spec: str) -> dict[str, str]:
        """The requirements of a spec by id, each in one line."""
        with closing(read_state(self.root / STATE)) as db:
            return texts(db, [spec]).get(spec, {})

    def _decided(self, planned: PlannedNode, handled: Handled) -> Iterator[str]:
        ruling = self.ruling(handled)
        node = planned.node
        if ruling is None:
            yield self._line(node.id, "Ignore: a late or doubled end changes nothing")
            return
        yield self._line(node.id, self._decision_line(planned, handled, ruling))
        texts = self.texts(node.spec_name) if ruling.failing else {}
        for part in ruling.failing[:MOST_TEXTS]:
            yield self._line(node.id, cut(f"  FAIL {part}  {texts.get(part, '')}", self.room))
        for spec, names in held_back(handled, node.id).items():
            held = listed(names) if spec == node.spec_name else spec
            verb = "wait" if spec == node.spec_name and len(names) > 1 else "waits"
            yield self._line(held, f"{verb} for {node.id}, which stopped")

    def _decision_line(self, planned: PlannedNode, handled: Handled, ruling: Ruling) -> str:
        match ruling.kind:
            case "Land":
                is_unchanged = any(t.step is Step.LAND_UNCHANGED for t in handled.transitions)
                return f"attempt {ruling.attempt} {'changed nothing' if is_unchanged else 'landed'}"
            case "Accept":
                if planned.node.archetype is not Archetype.VERIFIER:
                    return "found nothing critical"
                is_waived = any(t.standing.outcome is Outcome.WAIVED for t in handled.transitions)
                return "WAIVED: what is not proven rests on a waiver" if is_waived else self.proven
            case "Recode" | "SendBack":
                fails = f"; fails {listed(ruling.failing)}" if ruling.failing else ""
                why = "".join(f"; {reason}" for reason in ruling.reasons)
                return (
                    f"{ruling.kind}: sent back to {'; '.join(self._sent_back(handled, planned.node.uid))}{fails}{why}"
                )
            case "Retry":
                return f"Retry: {'; '.join(self._sent_back(handled, ''))} again; {ruling.note}"
            case "Reread":
                return f"Reread: asked again: the {planned.node.archetype} gave no complete answer; no coder is charged"
            case "Block":
                fails = f"{ruling.cause}; fails {listed(ruling.failing)}"
                what = fails if ruling.failing else ruling.note or ruling.cause
                return f"Block: stopped: {what}{f'; {ruling.best}' if ruling.best else ''}"
            case _:
                return f"{ruling.kind}: {ruling.note}"

    def _sent_back(self, handled: Handled, about: str) -> Iterator[str]:
        for moved in handled.transitions:
            if moved.step in _BACK and moved.uid != about:
                tries = moved.standing.attempts_spent
                of = f" of {self.attempts}" if tries <= self.attempts else ""
                yield f"{moved.node_id} (attempt {tries}{of})"

    def document(self, event: RunEvent, at: str) -> dict[str, object]:
        """The event as one JSON object; keys without a value are left out."""
        ruling = self.ruling(event.handled) if event.handled is not None else None
        node = event.planned.node.id if event.planned else ruling.about if ruling else None
        document = {"at": at, "kind": event.kind, "node": node, **ticket_of(event), "text": near(self.root, event.text)}
        if ruling is not None:
            moved = [moved_document(transition) for transition in event.handled.transitions] if event.handled else []
            document |= {
                "decision": ruling.kind, "row": ruling.row, "cause": ruling.cause, "failing": ruling.failing,
                "unknown": ruling.unknown, "blamed": ruling.blamed, "note": ruling.note, "best": ruling.best,
                "chosen": ruling.chosen, "moved": moved,
            }  # fmt: skip
        return {key: value for key, value in document.items() if value not in (None, "", (), [])}


def begins(planned: PlannedNode) -> str:
    attempt, reading = planned.standing.attempt, planned.standing.reading
    match planned.node.archetype:
        case Archetype.CODER:
            return f"attempt {attempt} begins" if attempt > 1 else "begins"
        case Archetype.VERIFIER:
            again = f" (attempt {attempt}, reading {reading})" if (attempt, reading) != (1, 1) else ""
            return f"verifies{again}"
        case Archetype.REVIEWER:
            return f"reviews{f' (reading {reading})' if reading > 1 else ''}"


def held_back(handled: Handled, root: str) -> Mapping[str, list[str]]:
    """The nodes that a block holds back besides its root, by spec."""
    nodes: dict[str, list[str]] = {}
    for moved in handled.transitions:
        if moved.step is Step.BLOCK and moved.node_id != root:
            nodes.setdefault(moved.node_id.partition(":")[0], []).append(moved.node_id)
    return nodes


def issue_words(text: str) -> str:
    """What the engine says of a delivery, `file: TITLE (WHERE)`, as a sentence."""
    kind, _, rest = text.partition(": ")
    return f"issue {_DONE[kind]}: {rest}" if kind in _DONE else f"issue: {text}"


def ticket_of(event: RunEvent) -> dict[str, object]:
    if event.session is not None:
        return {"attempt": event.session.ticket.attempt, "reading": event.session.ticket.reading}
    if event.planned is not None:
        return {"attempt": event.planned.standing.attempt, "reading": event.planned.standing.reading}
    return {}


def moved_document(one: Transition) -> dict[str, object]:
    standing = one.standing
    return {"node": one.node_id, "step": one.step, "status": standing.status, "attempt": standing.attempt}
