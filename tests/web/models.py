"""Documents of runs as values, made by a rule and a fixed clock: of any size, and hostile ones. No state, no run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from agent_fox.engine.account.overview import Answer, Banner, Cited, Need, NeedsYou, NextStep, Overview
from agent_fox.engine.account.run_document import RunDocument
from agent_fox.engine.account.stories import (
    CostPoint,
    Costs,
    DecisionStory,
    Edge,
    NodeStory,
    Reading,
    RequirementStory,
    SessionStory,
    Spend,
    WaitStory,
)

BEGIN = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
ASSERTION = "assert total(cart) == 90"
FAILING = ("07_spec", "15_spec", "22_spec")
"""The specs of a run of a hundred nodes whose verifier stopped."""


def at(seconds: float) -> str:
    return (BEGIN + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def text_of(spec: str, number: int) -> str:
    return f"WHEN the {number}. thing of {spec} is counted, THE counter SHALL tell how many there are."


def reading(number: int, attempt: int, word: str, seconds: float, evidence: str = "") -> Reading:
    return Reading(
        id=number, at=at(seconds), attempt=attempt, reading=1, word=word, said=word, note="",
        evidence=evidence or f"{word} as seen", command="python -m pytest -q tests/test_it.py", disposition="",
        commit="c" * 40, session=number, how="red without" if word == "PASS" else "", record="r" * 64, is_current=True,
    )  # fmt: skip


def requirement(spec: str, number: int, state: str, readings: tuple[Reading, ...]) -> RequirementStory:
    how = "red without" if state == "proven" else ""
    return RequirementStory(
        spec, f"{spec[:2]}-REQ-1.{number}", text_of(spec, number), state, how, "tested", (f"{spec}:1",), readings
    )


def session(number: int, node: str, spec: str, archetype: str, attempt: int, start: float, cost: float) -> SessionStory:
    return SessionStory(
        id=number, run=1, node=node, spec=spec, archetype=archetype, attempt=attempt, reading=1, status="completed",
        end="ended", reason="", summary="did it", started_at=at(start), ended_at=at(start + 50), seconds=50.0,
        cost_usd=cost, assumed_usd=0.0, agent="scripted", rung=0, pinned="a" * 40, base="b" * 40,
        landed="c" * 40 if archetype == "coder" else "", slot=number % 4, is_critical=number % 7 == 0, lost=(),
        log="--- stdout, 3 bytes\nyes\n" * 20, events=(), brief="# Do it\n" * 30,
        diff="diff --git a/x.py b/x.py\n@@ -1 +1 @@\n-old\n+new\n" * 10 if archetype == "coder" else "",
    )  # fmt: skip


def of_size(specs: int, parts: int, groups: int, failing: tuple[str, ...] = FAILING) -> RunDocument:
    """A run of so many specs, each with so many requirements and coders, and a verifier. `failing` ones stopped."""
    names = [f"{number:02}_spec" for number in range(1, specs + 1)]
    nodes: list[NodeStory] = []
    edges: list[Edge] = []
    sessions: list[SessionStory] = []
    requirements: list[RequirementStory] = []
    decisions: list[DecisionStory] = []
    for order, name in enumerate(names):
        stops = name in failing
        begin = order * 100.0
        made = [f"{name}:{group}" for group in range(1, groups + 2)]
        for level, node in enumerate(made):
            is_verifier = level == groups
            outcome = ("escalated" if stops else "verified") if is_verifier else "landed"
            nodes.append(
                NodeStory(
                    node, name, "verifier" if is_verifier else "coder", "", f"task {level + 1}", "completed", outcome,
                    3 if stops else 1, 1, level, "attempts spent" if outcome == "escalated" else "",
                    (made[level - 1],) if level else (),
                )
            )  # fmt: skip
            if level:
                edges.append(Edge(made[level - 1], node, "chain"))
            number = len(sessions) + 1
            role = "verifier" if is_verifier else "coder"
            sessions.append(session(number, node, name, role, 1, begin + 60 * level, 0.25))
        verifier = len(sessions)
        for part in range(1, parts + 1):
            bad = stops and part == 1
            words = ["PASS", "FAIL", "FAIL"] if bad else ["PASS"]
            readings = tuple(
                reading(verifier, n + 1, word, begin + 200 + 10 * n, f"{ASSERTION}\ntests/test_it.py:3" if bad else "")
                for n, word in enumerate(words)
            )
            readings = tuple(
                replace(r, is_regression=n > 0 and words[n - 1] == "PASS" != r.word) for n, r in enumerate(readings)
            )
            requirements.append(requirement(name, part, "failing" if bad else "proven", readings))
        kind, words_ = ("Block", "stopped: attempts spent") if stops else ("Accept", "accepted")
        decisions.append(
            DecisionStory(order + 1, at(begin + 240), made[-1], kind, 6 if stops else 1, "", 1, 1, (), (), (), words_)
        )
    stopped = [name for name in names if name in failing]
    good = len(requirements) - len(stopped)
    known = sum(each.cost_usd or 0 for each in sessions)
    account = account_of(names, requirements, stopped, known, len(sessions))
    answer = Answer.NOT_PROVEN if stopped else Answer.PROVEN
    banner = Banner(answer, f"{len(stopped)} requirements fail; {good} of {len(requirements)} proven", 2)
    return RunDocument(
        made_at=at(specs * 100 + 500), is_alive=False, account=account,
        overview=Overview(banner, tuple(cards(stopped)), (NextStep("agent-fox explain 07_spec:4", "see why"),), {}),
        requirements=tuple(requirements), nodes=tuple(nodes), edges=tuple(edges), sessions=tuple(sessions),
        decisions=tuple(decisions),
        costs=Costs(
            50.0, known / good if good else None, (Spend("coder", known, 0.0, len(sessions)),),
            (Spend("01_spec:1", 0.25, 0.0, 1),), tuple(points(sessions)),
        ),
    )  # fmt: skip


EVENTS = (
    {"kind": "call", "tool": "Edit", "at": at(61), "call": 1, "edits": ["src/cart.py"], "command": ""},
    {"kind": "call", "tool": "Bash", "at": at(64.25), "call": 2, "edits": [], "command": "make check"},
    {"kind": "done", "tool": "Edit", "at": at(62), "call": 1},
    {"kind": "failed", "tool": "Bash", "at": at(67.75), "call": 2},
    {"kind": "end", "is_whole": True},
)
"""What our runner records of a session."""


def waiting(document: RunDocument) -> RunDocument:
    """The same run, whose second session waited twice for a rate limit, and which was paused once."""
    of_session = (1, 2, "01_spec:2", "rate limit")
    waits = (
        WaitStory(1, *of_session, "API Error: 429", at(70), at(75), at(75)),
        WaitStory(2, *of_session, "API Error: 429", at(80), at(90), at(90)),
        WaitStory(3, 1, 0, "", "paused", "ceiling of the run: 5 USD", at(1000), "", at(1600)),
        WaitStory(4, 2, 0, "", "interrupted", "of another run", at(0), "", ""),
    )
    first, second, *rest = document.sessions
    return replace(document, waits=waits, sessions=(first, replace(second, events=EVENTS), *rest))


def points(sessions: list[SessionStory]) -> Iterator[CostPoint]:
    spent = 0.0
    for each in sessions:
        spent += each.cost_usd or 0.0
        yield CostPoint(each.ended_at, spent, 0.0)


def cards(stopped: list[str]) -> Iterator[NeedsYou]:
    for name in stopped:
        cited = Cited(f"{name[:2]}-REQ-1.1", text_of(name, 1), "FAIL", (ASSERTION, "tests/test_it.py:3"), 3)
        yield NeedsYou(
            Need.FAILING, name, f"{name}:4", "stopped after 3 attempts", (cited,), known_usd=1.0,
            issue="https://tracker.example/1", issue_title="it fails", decide="Give it new attempts by a reset.",
            commands=(f"agent-fox explain {name}:4", f"agent-fox reset {name}:4"),
        )  # fmt: skip


def account_of(
    names: list[str], requirements: list[RequirementStory], stopped: list[str], known: float, sessions: int
) -> dict[str, object]:
    specs = []
    for name in names:
        own = [story for story in requirements if story.spec == name]
        lists: dict[str, list[str]] = {
            state: [story.id for story in own if story.state == state]
            for state in ("proven", "waived", "failing", "unclear", "stale", "unread", "short", "elsewhere")
        }
        specs.append({
            "name": name, "standing": "escalated" if name in stopped else "verified", "problem": "", "nodes_done": 4,
            "nodes": 4, "expected": len(own), "is_counted": True, "commit": "c" * 40, **lists,
        })  # fmt: skip
    cost = {"total_usd": known, "known_usd": known, "assumed_usd": 0.0}
    return {
        "run": 1, "status": "ended", "exit_code": 2, "reason": "not proven", "started_at": at(0), "seconds": 3600.0,
        "tip": "c" * 40, "specs": specs, "sessions": sessions, "cost": cost,
    }  # fmt: skip


def hundred() -> RunDocument:
    """A run of a hundred nodes, three of whose specs stopped."""
    return of_size(25, 6, 3)


HOSTILE = (
    "<script>document.title='taken'</script>",
    "</script><script>document.title='taken'</script>",
    "<img src=x onerror=\"document.title='taken'\">",
    '"><svg onload="document.title=\'taken\'">',
    "javascript:document.title='taken'",
    "{{ 7 * 7 }}{% raw %}",
    "<!--<script>",
    "\x1b[31mred\x1b]8;;http://evil.example\x07link\x1b]8;;\x07",
    "\u202egnp.exe\u2066\u2069",
    "\u2028\u2029\x00\x07",
    "ghp_" + "a" * 36,
    "x" * 100_000,
)
"""Texts that others write: each of them stands in every place of a document that a text of theirs can stand in."""


def hostile() -> RunDocument:
    """A run in which every foreign text is one of HOSTILE."""
    plain = of_size(len(HOSTILE), 1, 1, tuple(f"{n:02}_spec" for n in range(1, len(HOSTILE) + 1)))
    texts = dict(zip((f"{n:02}_spec" for n in range(1, len(HOSTILE) + 1)), HOSTILE, strict=True))
    cards = tuple(
        replace(
            card, because=texts[card.spec], issue=texts[card.spec], issue_title=texts[card.spec],
            decide=texts[card.spec], cited=(replace(card.cited[0], text=texts[card.spec], quoted=(texts[card.spec],)),),
        )
        for card in plain.overview.needs_you
    )  # fmt: skip
    return replace(
        plain,
        overview=replace(plain.overview, needs_you=cards),
        requirements=tuple(
            replace(story, text=texts[story.spec], readings=tuple(
                replace(each, evidence=texts[story.spec], note=texts[story.spec], command=texts[story.spec])
                for each in story.readings
            ))
            for story in plain.requirements
        ),
        nodes=tuple(replace(node, title=texts[node.spec], because=texts[node.spec]) for node in plain.nodes),
        sessions=tuple(
            replace(
                each, summary=texts[each.spec], reason=texts[each.spec], agent=texts[each.spec], log=texts[each.spec],
                diff=texts[each.spec], brief=texts[each.spec], lost=(texts[each.spec],),
                events=(dict.fromkeys(("kind", "tool", "command"), texts[each.spec]) | {"edits": [texts[each.spec]]},),
            )
            for each in plain.sessions
        ),
        decisions=tuple(replace(each, words=texts[each.node[:7]]) for each in plain.decisions),
    )  # fmt: skip
