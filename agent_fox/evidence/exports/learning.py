"""Exports for those who learn from recorded work: trajectories (ATIF 1.7), preference pairs, task folders (Harbor).

What is in one is what persons allowed; what is not is listed with the reason. The same state gives the same bytes.
Sources: the ATIF models of nvidia-nat-atif 1.9; Harbor's task format 1.0; `docs/training.md`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.ledger.training import Permission, allowing, why_not
from agent_fox.core.trace import NodeKind
from agent_fox.core.values import Json, dataclass, to_document
from agent_fox.core.words import counted
from agent_fox.evidence.exports.episodes import Episode

if TYPE_CHECKING:
    from agent_fox.core.trace import Node

SCHEMA = "ATIF-v1.7"
TOOL = "agent-fox"
LONGEST_ENDING = 5
Mask = Callable[[str], str]
Diff = Callable[[str, str], str]
Transcript = Callable[[str], str | None]
"""The text of the transcript that is kept beside a session's log, by the log's place; None where there is none."""


def no_transcript(log: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Export:
    """Files by name, and what was left out: what it is, and why. `records` are the ids of what the files hold."""

    kind: str
    purpose: str
    files: Mapping[str, str]
    left_out: tuple[tuple[str, str], ...]
    records: tuple[str, ...]
    permissions: tuple[Permission, ...]

    @property
    def digest(self) -> str:
        return digest_of(json.dumps(dict(self.files), sort_keys=True))

    def manifest(self) -> str:
        """What the export holds, and why: the last of its files."""
        document: dict[str, Json] = {
            "export": self.kind, "purpose": self.purpose, "digest": self.digest, "records": list(self.records),
            "permissions": to_document(self.permissions), "left_out": to_document(self.left_out),
        }  # fmt: skip
        return _text(document)


def exported(
    kind: str, known: Sequence[Episode], permissions: Sequence[Permission], purpose: str, mask: Mask, diff: Diff,
    transcript: Transcript = no_transcript,
) -> Export:  # fmt: skip
    """An export of this kind (`trajectories` or `preferences`) of the episodes that may be learned from."""
    reasons = {each.session.id: why_not(each.subject, permissions, purpose) for each in known}
    allowed = [each for each in known if not reasons[each.session.id]]
    left_out = [(name_of(each), reasons[each.session.id]) for each in known if reasons[each.session.id]]
    if kind == "trajectories":
        files, held, more = _trajectories(allowed, lambda text: _masked(text, mask), transcript)
    else:
        files, held, more = _preferences(allowed, lambda text: _masked(text, mask), diff)
    return export_of(kind, purpose, files, [*left_out, *more], held, permissions)


def export_of(
    kind: str, purpose: str, files: Mapping[str, str], left_out: Sequence[tuple[str, str]], held: Sequence[Episode],
    permissions: Sequence[Permission],
) -> Export:  # fmt: skip
    """An export of these files, which hold these episodes."""
    used = {one.id: one for each in held for one in allowing(each.subject, permissions, purpose)}
    records = tuple(
        sorted({record for each in held for record in (each.record, *(v.record for v in each.verdicts))} - {""})
    )
    return Export(kind, purpose, files, tuple(left_out), records, tuple(used[id] for id in sorted(used)))


def _masked(text: str, mask: Mask) -> str:
    """Also without the ending of a file's name, with which a value looks like code."""
    stem, dot, ending = text.rpartition(".")
    is_file = bool(dot) and ending.isalnum() and len(ending) <= LONGEST_ENDING
    return mask(f"{mask(stem)}.{ending}" if is_file else text)


def name_of(episode: Episode) -> str:
    return f"session {episode.session.id} ({episode.session.node_id}, attempt {episode.session.ticket.attempt})"


Made = tuple[dict[str, str], list[Episode], list[tuple[str, str]]]


def _trajectories(allowed: Sequence[Episode], mask: Mask, transcript: Transcript) -> Made:
    files, left_out = {}, []
    for each in allowed:
        lines = lines_of(each, transcript)
        if lines is None:
            left_out.append((f"the transcript of {name_of(each)}", "it is gone, or not the one that was recorded"))
        files[f"{each.session.id:06}.json"] = _text(trajectory(each, lines or ()), mask)
    return files, list(allowed), left_out


def lines_of(episode: Episode, transcript: Transcript) -> tuple[dict[str, Json], ...] | None:
    """The lines of the session's transcript; none where none was recorded, None where it is not what was recorded."""
    recorded = [agent["transcript"] for agent in json.loads(episode.session.agents) if agent.get("transcript")]
    if not recorded:
        return ()
    text = transcript(episode.session.log)
    if text is None or digest_of(text) != recorded[0]:
        return None
    return tuple(json.loads(line) for line in filter(None, text.split("\n")))


def trajectory(episode: Episode, lines: Sequence[Mapping[str, Json]] = ()) -> dict[str, Json]:
    """One session as an ATIF document: what was asked, then a step for each node of its trace, or where a transcript
    is kept (its `lines`), for each word of the model and each call.

    In a trace an observation is told by its digest, length and red lines: the text itself is not recorded. Rewards
    stand in `extra`, a requirement each; what is no reward is there with the reason.
    """
    row, agents = episode.session, json.loads(episode.session.agents)
    agent: Mapping[str, str] = agents[0] if agents else {}
    steps: list[dict[str, Json]] = [{"step_id": 1, "source": "user", "message": asked(episode)}]
    nodes = episode.trace.nodes if episode.trace is not None else ()
    for step in steps_of(lines, nodes) if lines else map(_step, nodes[1:]):
        steps.append({"step_id": len(steps) + 1, "source": "agent", **step})
    model = {"model_name": str(agent["model"])} if agent.get("model") else {}
    metrics: dict[str, Json] = {"total_cost_usd": row.cost_usd, "total_steps": len(steps)}
    return {
        "schema_version": SCHEMA, "session_id": f"run-{row.run_id}", "trajectory_id": episode.record,
        "agent": {"name": row.backend or "unknown", "version": str(agent.get("version") or "unknown"), **model},
        "steps": list(steps), **({"final_metrics": metrics} if row.cost_usd is not None else {}),
        "extra": {
            TOOL: {
                "record": episode.record, "spec": row.spec_name, "node": row.node_id, "attempt": row.ticket.attempt,
                "reward": dict(episode.rewards), "no_reward": dict(episode.not_rewarded),
                "verdicts": {each.requirement: each.record for each in episode.verdicts},
                "trace": episode.trace.digest if episode.trace is not None else "",
                "not_in_trace": dict(episode.trace.left_out) if episode.trace is not None else {},
                **({"not_in_transcript": cut_in(lines)} if lines else {}),
            }
        },
    }  # fmt: skip


def cut_in(lines: Sequence[Mapping[str, Json]]) -> Json:
    """How many lines of a transcript were not written down; None where it has no end, and nobody knows."""
    return lines[-1].get("unrecorded") if lines[-1].get("kind") == "end" else None


def steps_of(lines: Sequence[Mapping[str, Json]], nodes: Sequence[Node]) -> Iterator[dict[str, Json]]:
    """A step for each word of the model, and for each call with what it was shown. A call that made a state of the
    files has that of the trace beside it.
    """
    ends = {line["call"]: line for line in lines if line["kind"] in ("done", "failed", "refused")}
    made = {node.call: node for node in nodes if node.call}
    for line in lines:
        if line["kind"] == "said":
            yield {"message": line["text"]}
        if line["kind"] == "call":
            number, node, end = line["call"], made.get(int(str(line["call"]))), ends.get(line["call"])
            id = f"call-{number}"
            call = {"tool_call_id": id, "function_name": line["tool"], "arguments": line["arguments"]}
            step: dict[str, Json] = {"message": f"calls {line['tool']}", "tool_calls": [call]}
            extra: dict[str, Json] = {"end": end["kind"] if end else "none was seen"}
            if node is not None:
                extra |= {"kind": str(node.kind), "state": node.step, "diff": node.diff, "files": list(node.files)}
            if end is not None:
                step["observation"] = {"results": [{"source_call_id": id, "content": end["text"]}]}
            yield {**step, "extra": {TOOL: extra}}


def asked(episode: Episode) -> str:
    lines = [f"{id}: {text}" for id, text in episode.texts.items()]
    return "\n".join([f"Work on {episode.session.node_id} so that these requirements hold.", *lines])


def _step(node: Node) -> dict[str, Json]:
    words = node.action or f"{counted(node.calls, 'call')} that changed nothing"
    extra: dict[str, Json] = {
        "kind": str(node.kind), "state": node.step, "diff": node.diff, "files": list(node.files), "node": node.id,
    }  # fmt: skip
    step: dict[str, Json] = {"message": words, "extra": {TOOL: extra}}
    if not node.calls:
        return step
    tool, call = next(iter(node.tools), "") or words.partition(" ")[0], f"call-{node.call}"
    arguments: dict[str, Json] = {"files": list(node.files), "calls": node.calls}
    seen = node.observation
    content = "\n".join([f"sha256:{seen.digest} ({seen.characters} characters)", *seen.red]) if seen.digest else ""
    step["tool_calls"] = [{"tool_call_id": call, "function_name": tool, "arguments": arguments}]
    if content or node.kind is NodeKind.VERIFICATION:
        step["observation"] = {"results": [{"source_call_id": call, "content": content or "no output is recorded"}]}
    return step


def _preferences(allowed: Sequence[Episode], mask: Mask, diff: Diff) -> Made:
    """Pairs of sessions of one node: one after which everything that can be a reward is one, one after which it is not.

    Sessions that did not begin with the same files are no pair: the later one had the earlier one's work.
    """
    rows, held, left_out = [], [], []
    for group in _by_node(allowed):
        good = [each for each in group if each.rewards and all(each.rewards.values())]
        bad = [each for each in group if not all(each.rewards.values())]
        pairs = [(one, other) for one in good for other in bad]
        for one, other in pairs:
            if one.session.tree != other.session.tree or one.session.landed is None or other.session.landed is None:
                left_out.append((f"{name_of(one)} beside {name_of(other)}", "they began with other files"))
                continue
            chosen, rejected = (diff(str(each.session.pinned), str(each.session.landed)) for each in (one, other))
            rows.append(
                {
                    "prompt": asked(one), "chosen": chosen, "rejected": rejected,
                    "chosen_record": one.record, "rejected_record": other.record,
                    "reward": {"chosen": dict(one.rewards), "rejected": dict(other.rewards)},
                }
            )  # fmt: skip
            held += [each for each in (one, other) if each not in held]
    lines = "".join(json.dumps(to_document(row, mask), sort_keys=True, ensure_ascii=False) + "\n" for row in rows)
    return {"preferences.jsonl": lines}, held, left_out


def _by_node(known: Iterable[Episode]) -> Iterator[list[Episode]]:
    groups: dict[str, list[Episode]] = defaultdict(list)
    for each in known:
        groups[each.session.ticket.node_uid].append(each)
    yield from groups.values()


def _text(document: Mapping[str, Json], mask: Mask = str) -> str:
    return json.dumps(to_document(document, mask), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
