"""Exports for training, from episodes that are made here: no permission, no record; and no secret."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nat.atif import Trajectory  # type: ignore[import-untyped]

from agent_fox.core.ids import Archetype, Ticket, digest_of
from agent_fox.core.ledger.training import Act, Permission, why_not
from agent_fox.core.trace import Node, NodeKind, Observation
from agent_fox.core.values import to_object
from agent_fox.evidence.exports.episodes import Episode, Judged
from agent_fox.evidence.exports.learning import Export, exported
from agent_fox.store.sessions import SessionRow
from agent_fox.store.traces import TraceRow
from agent_fox.system.redaction.masking import redact
from tests.system.redact_cases import INJECTED, SECRETS


def row(number: int, node: str, tree: str = "t" * 40) -> SessionRow:
    return SessionRow(
        id=number, run_id=1, node_id=node, spec_name=node.partition(":")[0], archetype=Archetype.CODER, mode=None,
        ticket=Ticket(f"uid-{node}", number, 1), status="completed", end_kind="ended", reason="", rung=0,
        pinned="p" * 40, tree=tree, base="b" * 40, landed=f"{number:040}", cost_usd=1.0, assumed_cost_usd=0.0,
        summary="", log="", started_at="", ended_at=None, seconds=1.0, backend="scripted", agents="[]",
    )  # fmt: skip


def episode(number: int, node: str = "a:1", rewards: dict[str, int | None] | None = None, said: str = "") -> Episode:
    verdicts = tuple(
        Judged(
            part,
            "PASS" if reward else "FAIL",
            "repairable",
            "",
            f"v{number}-{part}",
            reward,
            "" if reward is not None else "flaky",
        )
        for part, reward in (rewards or {}).items()
    )
    base = Node(0, NodeKind.STATE_CHANGE, 0, action="began", calls=0)
    work = Node(
        1, NodeKind.STATE_CHANGE, 1, base.id, f"bash {said}", 1, tools={"bash": 1}, files=(f"src/{said}.py",),
        observation=Observation("d" * 64, 9, (said,)),
    )  # fmt: skip
    document = {"nodes": [to_object(node) for node in (base, work)], "left_out": {}}
    trace = TraceRow(number, "digest", {}, "", "", "", document)
    return Episode(row(number, node), f"record-{number}", {"1.1": f"it works {said}"}, trace, verdicts, ())


def same(one: str, other: str) -> str:
    return f"diff {one} {other}"


KNOWN = tuple(episode(n, f"{spec}:1", {"1.1": n % 2}) for n, spec in enumerate("aabbcc", 1))
NAMES = sorted({name for each in KNOWN for name in each.subject.names | each.subject.touches} | {"all"})
permissions = st.builds(
    Permission, st.sampled_from(Act), st.sampled_from(NAMES), st.sampled_from(("", "tuning", "other")), st.just(""),
    st.text("ab", min_size=1, max_size=2), st.just("ada"), st.sampled_from(("1", "2")),
)  # fmt: skip


@given(st.lists(permissions, max_size=6), st.sampled_from(("trajectories", "preferences")))
def test_an_export_holds_no_record_of_what_may_not_be_learned_from(given_: list[Permission], kind: str) -> None:
    made = exported(kind, KNOWN, given_, "tuning", str, same)
    texts = "".join(made.files.values())
    forbidden = [each for each in KNOWN if why_not(each.subject, given_, "tuning")]
    for each in forbidden:
        assert each.record not in made.records
        assert f'"{each.record}"' not in texts
    named = [what for what, _ in made.left_out]
    assert all(any(f"session {each.session.id} " in what for what in named) for each in forbidden)


def test_a_thousand_planted_secrets_do_not_leak() -> None:
    """In the texts of requirements, commands, file names and red lines, in the contexts of a labelled set."""
    chance, leaked, planted = random.Random(7), [], 0
    allowed = [Permission(Act.ALLOW, "all", "tuning")]
    for number in range(1000):
        text, secret = plant(chance.choice(SECRETS), chance)
        made = exported(
            "trajectories",
            [episode(number, said=text)],
            allowed,
            "tuning",
            lambda text: redact(text, (INJECTED,)),
            same,
        )
        planted += 1
        if secret in "".join(made.files.values()):
            leaked.append(text)
    assert (planted, leaked) == (1000, [])


def plant(case: tuple[str, str], chance: random.Random) -> tuple[str, str]:
    text, secret = case
    return f"{chance.choice(('', 'see ', 'x: '))}{text}", secret


LINES = (
    {"kind": "said", "text": "I will make it work"},
    {"kind": "call", "call": 1, "tool": "bash", "arguments": {"command": "make test"}},
    {"kind": "done", "call": 1, "text": "1 passed\u2028in 2 s"},
    {"kind": "call", "call": 2, "tool": "read", "arguments": {"path": "a.py"}},
    {"kind": "end", "unrecorded": 3},
)


def with_transcript(text: str) -> Episode:
    """An episode of which a transcript with this text was recorded."""
    bare = episode(1, rewards={"1.1": 1})
    agents = json.dumps([{"cli": "claude", "transcript": digest_of(text)}])
    return replace(bare, session=replace(bare.session, agents=agents, log="/logs/1.log"))


def exported_with(known: Episode, kept: str | None) -> Export:
    return exported("trajectories", [known], ALL, "tuning", str, same, {"/logs/1.log": kept}.get)


ALL = [Permission(Act.ALLOW, "all", "tuning", "", "p", "ada", "1")]


def test_a_full_transcript_is_what_a_trajectory_has() -> None:
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in LINES)
    made = exported_with(with_transcript(text), text)
    (document,) = made.files.values()
    read = Trajectory.model_validate_json(document)
    assert [step.message for step in read.steps[1:]] == ["I will make it work", "calls bash", "calls read"]
    steps = json.loads(document)["steps"]
    assert steps[2]["tool_calls"][0]["arguments"] == {"command": "make test"}
    assert steps[2]["observation"]["results"] == [{"source_call_id": "call-1", "content": "1 passed\u2028in 2 s"}]
    assert steps[2]["extra"]["agent-fox"] == {
        "end": "done", "kind": "state change", "state": 1, "diff": "", "files": ["src/.py"],
    }  # fmt: skip
    assert "observation" not in steps[3]
    assert steps[3]["extra"]["agent-fox"] == {"end": "none was seen"}
    assert json.loads(document)["extra"]["agent-fox"]["not_in_transcript"] == 3
    assert made.left_out == ()


@pytest.mark.parametrize("kept", [None, "", '{"kind": "said", "text": "planted"}\n'], ids=["gone", "empty", "other"])
def test_a_transcript_that_is_not_the_one_that_was_recorded_is_left_out_and_the_trace_stays(kept: str | None) -> None:
    made = exported_with(with_transcript("recorded"), kept)
    assert made.left_out == (
        ("the transcript of session 1 (a:1, attempt 1)", "it is gone, or not the one that was recorded"),
    )
    (document,) = made.files.values()
    assert "planted" not in document
    assert len(json.loads(document)["steps"]) == 2


def test_a_transcript_is_masked_again_when_it_is_exported() -> None:
    _, secret = SECRETS[0]
    rows = [{"kind": "said", "text": f"it is {secret}"},
            {"kind": "call", "call": 1, "tool": "bash", "arguments": {"command": ["x", {"y": secret}]}},
            {"kind": "done", "call": 1, "text": secret}]  # fmt: skip
    text = "".join(json.dumps(row) + "\n" for row in rows)
    made = exported(
        "trajectories",
        [with_transcript(text)],
        ALL,
        "tuning",
        lambda said: redact(said, (secret,)),
        same,
        lambda log: text,
    )
    assert made.left_out == ()
    assert secret not in "".join(made.files.values())


def test_without_one_on_record_no_file_is_looked_for() -> None:
    assert exported_with(episode(1), "never read").left_out == ()


def test_only_what_speaks_of_the_work_is_a_reward_and_the_rest_says_why() -> None:
    made = exported(
        "trajectories", [episode(1, rewards={"1.1": 1, "1.2": 0, "1.3": None})],
        [Permission(Act.ALLOW, "all", "tuning")], "tuning", str, same,
    )  # fmt: skip
    (text,) = made.files.values()
    ours = json.loads(text)["extra"]["agent-fox"]
    assert (ours["reward"], ours["no_reward"]) == ({"1.1": 1, "1.2": 0}, {"1.3": "flaky"})


def test_a_pair_is_two_sessions_of_a_node_that_began_with_the_same_files() -> None:
    known = [episode(1, rewards={"1.1": 0}), episode(2, rewards={"1.1": 1}), episode(3, "b:1", {"1.1": 1})]
    made = exported("preferences", known, [Permission(Act.ALLOW, "all", "tuning")], "tuning", str, same)
    (line,) = made.files["preferences.jsonl"].splitlines()
    pair = json.loads(line)
    assert (pair["chosen_record"], pair["rejected_record"]) == ("record-2", "record-1")
    assert pair["chosen"] == f"diff {'p' * 40} {2:040}"
    assert made.records == ("record-1", "record-2", "v1-1.1", "v2-1.1")
