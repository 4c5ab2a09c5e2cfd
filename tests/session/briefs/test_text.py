"""What an agent is told: golden texts, upper bounds, and examples that are never taken for an answer."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.ids import Archetype, Mode
from agent_fox.core.markdown import printable
from agent_fox.core.spec import Criterion
from agent_fox.core.verdicts.answer import read_report
from agent_fox.core.verdicts.findings import read_review
from agent_fox.session.briefs.text import (
    FEWEST_TOKENS,
    LONGEST_BRIEF,
    SHORT_TOKENS,
    AskedExpectation,
    Binding,
    BriefFacts,
    Change,
    Conflict,
    Failure,
    Since,
    Tried,
    brief_json,
    brief_markdown,
    without_secrets,
)

PARTS = (
    Criterion("04-REQ-1.1", "WHEN a car enters, THE gate SHALL open."),
    Criterion("04-REQ-1.E1", "IF the card is unknown, THEN THE gate SHALL stay shut."),
)
FIRST = BriefFacts(
    node="04_gate:2",
    spec="04_gate",
    archetype=Archetype.CODER,
    attempt=1,
    title="Open the gate",
    tasks="- [ ] 2. Open the gate\n  - [ ] 2.1 Read the card",
    requirements=PARTS,
)
AGAIN = BriefFacts(
    node="04_gate:2",
    spec="04_gate",
    archetype=Archetype.CODER,
    attempt=3,
    failing=(Failure(PARTS[1].id, PARTS[1].text, "assert gate == 'shut'\n```", "pytest -k card", Since.NEWLY),),
    fixed=("04-REQ-1.1",),
    must_stay_green=("04-REQ-1.1", "04-REQ-2.1"),
    tried=(Tried(1, "opened the gate", "04-REQ-1.1 failed"), Tried(2, "a | pipe", "04-REQ-1.E1 failed")),
    reason="exit 7",
    changed=("src/gate.py",),
    documents=(".specs/04_gate/design.md",),
    commands=(("Spec tests", "pytest -q tests/gate"),),
)
JUDGE = BriefFacts(
    node="04_gate:3",
    spec="04_gate",
    archetype=Archetype.VERIFIER,
    attempt=1,
    reading=2,
    requirements=PARTS,
    expected=("04-REQ-1.1", "04-REQ-1.E1"),
    unclear=("04-REQ-1.E1",),
)
REVIEW = BriefFacts(
    node="04_gate:1:reviewer:audit-review",
    spec="04_gate",
    archetype=Archetype.REVIEWER,
    mode=Mode.AUDIT_REVIEW,
    attempt=1,
    requirements=PARTS,
)

CONFLICT = BriefFacts(
    node="04_gate:2",
    spec="04_gate",
    archetype=Archetype.CODER,
    attempt=2,
    title="Open the gate",
    tasks="- [ ] 2. Open the gate",
    failing=(Failure(PARTS[1].id, PARTS[1].text, "seen"),),
    conflict=Conflict(("src/gate.py",), ("04_gate:1: Read the card",), ("04_gate:2: Open the gate",)),
)
EVERYTHING = (FIRST, AGAIN, JUDGE, REVIEW, CONFLICT)
DELAY = Binding(
    "04_gate/opens-in-time",
    "contract",
    "It opens within five seconds.",
    ("04-REQ-1.1",),
    (("function", "gate.motor:delay"), ("post", "__return__ <= 5")),
)


def test_the_brief_of_a_first_attempt_has_the_tasks_and_no_failure() -> None:
    text = brief_markdown(FIRST)
    assert "- [ ] 2. Open the gate" in text
    assert "## Failing" not in text
    assert brief_json(FIRST) == {
        "node": "04_gate:2",
        "spec": "04_gate",
        "archetype": "coder",
        "mode": None,
        "attempt": 1,
        "reading": 1,
        "title": "Open the gate",
        "tasks": "- [ ] 2. Open the gate\n  - [ ] 2.1 Read the card",
        "requirements": [{"id": part.id, "text": part.text} for part in PARTS],
        "failing": [],
        "fixed": [],
        "must_stay_green": [],
        "tried": [],
        "changed": [],
        "forbidden": list(FIRST.forbidden),
        "reason": "",
        "conflict": None,
        "documents": [],
        "commands": [],
        "expected": [],
        "unclear": [],
    }


def test_the_brief_of_a_retry_says_what_fails_what_was_tried_and_what_must_stay() -> None:
    text = brief_markdown(AGAIN)
    headings = re.findall("^## (.+)$", text, re.MULTILINE)
    assert headings == [
        "Why the last try did not count",
        "Failing: make these pass",
        "Fixed since the last attempt",
        "Files that the last attempt changed",
        "Must stay green",
        "Tried before, and not enough",
        "Forbidden",
        "Test commands of the spec",
        "To read",
    ]
    assert brief_json(AGAIN)["failing"] == [
        {
            "id": "04-REQ-1.E1",
            "text": PARTS[1].text,
            "evidence": "assert gate == 'shut'\n```",
            "command": "pytest -k card",
            "standing": "newly failing",
        }
    ]


def test_the_brief_of_a_conflict_has_the_conflict_as_its_only_task() -> None:
    text = brief_markdown(CONFLICT)
    assert "## Files in conflict: settle these, and nothing else\n\n- `src/gate.py`\n" in text
    assert "## What the branch got meanwhile\n\n```text\n04_gate:1: Read the card\n```\n" in text
    assert "## Failing" not in text
    assert brief_json(CONFLICT)["conflict"] == {
        "files": ["src/gate.py"],
        "branch": ["04_gate:1: Read the card"],
        "work": ["04_gate:2: Open the gate"],
    }


def test_the_same_facts_give_the_same_keys_for_every_role() -> None:
    assert {tuple(brief_json(facts)) for facts in EVERYTHING} == {tuple(brief_json(FIRST))}


def test_a_coder_is_told_what_else_must_hold_and_where_it_is_checked() -> None:
    facts = replace(FIRST, bound=(DELAY,))
    told = brief_markdown(facts).split("## What else must hold for these requirements\n\n")[1]
    assert told.startswith(
        "### 04_gate/opens-in-time (contract)\n\n> It opens within five seconds.\n\nFor 04-REQ-1.1.\n\n"
        "```text\nfunction: gate.motor:delay\npost: __return__ <= 5\n```\n"
    )
    assert brief_json(facts)["bound"] == [
        {
            "address": "04_gate/opens-in-time",
            "kind": "contract",
            "text": "It opens within five seconds.",
            "requirements": ["04-REQ-1.1"],
            "checked": [
                {"name": "function", "value": "gate.motor:delay"}, {"name": "post", "value": "__return__ <= 5"}
            ],
            "doubt": "",
        }
    ]  # fmt: skip


def test_the_brief_of_work_that_nothing_else_binds_does_not_speak_of_it() -> None:
    assert "What else must hold" not in brief_markdown(FIRST)
    assert "bound" not in brief_json(FIRST)
    assert {**brief_json(replace(FIRST, bound=(DELAY,))), "bound": []} == {**brief_json(FIRST), "bound": []}


def test_what_binds_nothing_for_sure_says_why() -> None:
    told = brief_markdown(replace(FIRST, bound=(replace(DELAY, doubt="nobody\nsigned it"),)))
    assert "\n\nUnknown whatever is checked: nobody signed it.\n\n" in told


def test_of_too_much_that_binds_every_address_is_told_and_the_rest_is_in_the_json() -> None:
    many = tuple(replace(DELAY, address=f"04_gate/it-{number:03}", text="word " * 700) for number in range(150))
    facts = replace(FIRST, bound=many)
    text = brief_markdown(facts, 6_000)
    assert len(text) <= 6_000 * 4
    assert all(each.address in text for each in many)
    assert "more, in full in the JSON form of this brief: 04_gate/it-" in text


def test_a_verifiers_brief_names_what_to_judge_and_what_is_unclear() -> None:
    text = brief_markdown(JUDGE)
    assert "attempt 1, reading 2" in text
    assert "## Give one verdict for each of these ids\n\n04-REQ-1.1, 04-REQ-1.E1\n" in text
    assert "## Unclear after the last reading\n\n04-REQ-1.E1\n" in text


@pytest.mark.parametrize("facts", [JUDGE, AGAIN, REVIEW])
def test_an_echoed_brief_is_never_an_answer_about_a_real_id(facts: BriefFacts) -> None:
    requirements = {"04-REQ-1": ("04-REQ-1.1", "04-REQ-1.E1")}
    assert read_report(brief_markdown(facts), requirements).verdicts == {}
    assert read_review(brief_markdown(facts)).is_readable is False


def test_an_answer_in_the_form_asked_for_is_read() -> None:
    block = re.findall(r"```text\n(.*?)\n```", brief_markdown(JUDGE), re.DOTALL)[-1]
    filled = block.replace("<id of the list>", "04-REQ-1.1").replace("PASS | FAIL | UNKNOWN", "PASS")
    assert read_report(filled, {"04-REQ-1": ("04-REQ-1.1",)}).verdicts["04-REQ-1.1"].said == "PASS"


LONG = "`" * 50 + "word " * 1_500
MANY = tuple(f"04-REQ-{number}.1" for number in range(2_000))
SOME = MANY[:400]
"""So many long texts are far more than the largest brief has room for."""


def too_much(archetype: Archetype, conflict: Conflict | None = None) -> BriefFacts:
    """More of everything than any brief has room for."""
    return BriefFacts(
        node="04_gate:2",
        spec="04_gate",
        archetype=archetype,
        attempt=9,
        title=LONG,
        tasks=LONG,
        requirements=tuple(Criterion(one, LONG) for one in SOME),
        failing=tuple(Failure(one, LONG, LONG, LONG) for one in SOME),
        fixed=MANY,
        must_stay_green=MANY,
        tried=tuple(Tried(number, LONG, LONG) for number in range(500)),
        changed=(LONG,) * 500,
        forbidden=(LONG,) * 100,
        reason=LONG,
        conflict=conflict,
        documents=(LONG,) * 100,
        commands=((LONG, LONG),) * 100,
        expected=MANY,
        unclear=MANY,
        bound=tuple(Binding(f"04_gate/{one}", "theorem", LONG, MANY, (("goal", LONG),) * 9, LONG) for one in SOME),
    )


@pytest.mark.parametrize("archetype", list(Archetype))
@pytest.mark.parametrize("tokens", [FEWEST_TOKENS, 16_000])
def test_a_brief_stays_within_its_bound_whatever_it_is_given(archetype: Archetype, tokens: int) -> None:
    text = brief_markdown(too_much(archetype), tokens)
    assert len(text) <= tokens * 4
    assert "in full in the JSON form of this brief" in text
    assert len(text) > tokens * 3


def test_the_brief_of_a_conflict_stays_within_its_bound() -> None:
    text = brief_markdown(too_much(Archetype.CODER, Conflict((LONG,) * 500, (LONG,) * 500, (LONG,) * 500)))
    assert len(text) <= LONGEST_BRIEF
    assert "## Files in conflict" in text


def test_a_budget_too_small_to_say_the_task_is_an_error() -> None:
    with pytest.raises(ValueError, match="allow 2000 or more"):
        brief_markdown(FIRST, FEWEST_TOKENS - 1)


def test_what_has_room_is_never_cut() -> None:
    tasks = "- [ ] a task that goes on\n" * 1_500
    facts = replace(
        FIRST, tasks=tasks, requirements=tuple(Criterion(one, "THE gate SHALL open.") for one in MANY[:300])
    )
    text = brief_markdown(facts)
    assert tasks.strip() in text
    assert all(one in text for one in MANY[:300])
    assert "left out" not in text


def test_room_is_lost_in_the_order_that_the_documentation_gives() -> None:
    """The first sections to go are those of the highest rank; failing requirements and forbidden moves stay."""
    facts = replace(
        AGAIN,
        failing=tuple(Failure(one, "THE gate SHALL open.", "seen " * 200) for one in MANY[:30]),
        tasks="- [ ] a task\n" * 2_000,
        requirements=tuple(Criterion(one, "THE gate SHALL open. " * 10) for one in MANY[:50]),
        tried=tuple(Tried(number, "did this " * 40, "failed") for number in range(1, 40)),
        must_stay_green=MANY[:500],
        documents=tuple(f".specs/04_gate/document-{number}.md" for number in range(60)),
    )
    whole, half, least = (brief_markdown(facts, tokens) for tokens in (16_000, 6_000, FEWEST_TOKENS))
    for text in (whole, half, least):
        assert text.count("### 04-REQ-") > 0
        assert "weakening, deleting, skipping" in text
    assert whole.count("Evidence:") == 30
    assert whole.count("seen") > half.count("seen") > least.count("seen")
    assert len(re.findall(r"document-\d+", whole)) > len(re.findall(r"document-\d+", least))
    assert all(one in least for one in MANY[:30])


def test_every_id_to_judge_is_named_however_many_there_are() -> None:
    facts = replace(JUDGE, expected=MANY, requirements=tuple(Criterion(one, LONG) for one in SOME))
    listed = brief_markdown(facts).split("## Give one verdict for each of these ids\n\n")[1].split("\n")[0]
    assert tuple(listed.split(", ")) == MANY


def variants() -> list[BriefFacts]:
    """Facts that differ from AGAIN in one thing each, some of them only in the middle of what is too long to show."""
    middle = [f"{'x' * 200_000}{word}{'y' * 200_000}" for word in ("one", "two")]
    return [
        AGAIN,
        replace(AGAIN, reason="exit 8"),
        replace(AGAIN, attempt=4),
        *(replace(AGAIN, tasks=text) for text in middle),
        *(replace(AGAIN, reason=text) for text in middle),
        *(replace(AGAIN, requirements=(Criterion("A", text),)) for text in middle),
        *(replace(AGAIN, failing=(replace(AGAIN.failing[0], evidence=text),)) for text in middle),
        *(replace(AGAIN, failing=(replace(AGAIN.failing[0], command=text),)) for text in middle),
        *(replace(AGAIN, tried=(Tried(1, text, "failed"),)) for text in middle),
        *(replace(AGAIN, must_stay_green=(*MANY, text)) for text in ("a", "b")),
        *(replace(AGAIN, bound=(replace(DELAY, text=text),)) for text in middle),
        *(replace(AGAIN, bound=(replace(DELAY, checked=(("goal", text),)),)) for text in middle),
        replace(AGAIN, failing=(replace(AGAIN.failing[0], standing=Since.STILL),)),
    ]


def test_a_brief_differs_whenever_its_facts_do_also_beyond_what_is_shown() -> None:
    texts = [brief_markdown(facts) for facts in variants()]
    assert len(set(texts)) == len(texts)
    assert texts == [brief_markdown(facts) for facts in variants()]


@given(st.text(max_size=50), st.text(max_size=50))
def test_other_evidence_gives_another_brief(one: str, other: str) -> None:
    texts = [brief_markdown(replace(AGAIN, failing=(Failure("A", "t", said),))) for said in (one, other)]
    assert (texts[0] == texts[1]) == (printable(one) == printable(other))


def test_evidence_keeps_its_head_and_its_tail() -> None:
    evidence = "FIRST LINE\n" + "noise\n" * 50_000 + "LAST LINE"
    text = brief_markdown(replace(AGAIN, failing=(replace(AGAIN.failing[0], evidence=evidence),)))
    assert "FIRST LINE" in text
    assert "LAST LINE" in text
    assert re.search(r"… \([\d,]+ characters left out\) …", text)


SECRET = "sk-ant-api03-" + "A1b2C3d4" * 8
KNOWN = "correct horse battery staple"


def test_no_secret_enters_wherever_it_is_planted() -> None:
    planted = f"see {SECRET} and {KNOWN}!"
    facts = BriefFacts(
        node="04_gate:2",
        spec="04_gate",
        archetype=Archetype.CODER,
        attempt=2,
        title=planted,
        tasks=planted,
        requirements=(Criterion("A", planted),),
        failing=(Failure("A", planted, planted, planted),),
        tried=(Tried(1, planted, planted),),
        changed=(planted,),
        reason=planted,
        conflict=Conflict((planted,), (planted,), (planted,)),
        documents=(planted,),
        commands=((planted, planted),),
        bound=(Binding("04_gate/it", "theorem", planted, ("A",), (("goal", planted),), planted),),
    )
    clean = without_secrets(facts, (KNOWN,))
    for shown in (clean, replace(clean, conflict=None)):
        told = brief_markdown(shown) + json.dumps(brief_json(shown))
        assert SECRET not in told
        assert KNOWN not in told
        assert "[redacted]" in told


def test_text_without_secrets_stays_as_it_is() -> None:
    assert [without_secrets(facts) for facts in EVERYTHING] == [*EVERYTHING]


@given(st.text(max_size=300))
def test_evidence_cannot_leave_its_fence_or_break_the_json(evidence: str) -> None:
    facts = BriefFacts("04_gate:2", "04_gate", Archetype.CODER, 2, failing=(Failure("A", "text", evidence),))
    json.dumps(brief_json(facts), ensure_ascii=False).encode("utf-8")
    lines = brief_markdown(facts).splitlines()
    opening = [line for line in lines if re.fullmatch(r"`{3,}text", line)]
    if opening:
        fence = opening[0].removesuffix("text")
        assert sum(line.strip() == fence for line in lines) == 1


@given(st.text(alphabet=st.sampled_from("`~\n #|>abc"), max_size=400))
def test_nothing_untrusted_makes_a_heading_of_its_own(said: str) -> None:
    facts = replace(
        AGAIN,
        tasks=said,
        reason=said,
        failing=(Failure("A", said, said, said),),
        tried=(Tried(1, said, said),),
        changed=(said,),
        commands=((said, said),),
        bound=(Binding("04_gate/it", "theorem", said, ("A",), (("goal", said),), said),),
    )
    text = brief_markdown(facts)
    outside = re.sub(r"^(`{3,})(?:text|markdown)\n.*?\n\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^ *#+ .*$", outside, re.MULTILINE)
    known = ("# 04_gate:2", "## Why", "## Failing", "### A (failing)", "## Fixed", "## Files", "## Must", "## Tried",
             "## Forbidden", "## Tasks", "## Test commands", "## To read", "## What else",
             "### 04_gate/it (theorem)")  # fmt: skip
    assert [line for line in headings if not line.startswith(known)] == []


def test_a_final_review_is_asked_about_each_changed_expectation_by_itself() -> None:
    asked = AskedExpectation("01-REQ-1.1", "`total` SHALL add the bag.", "t.py::test_a", "a bag", "== 3", "== 4")
    facts = BriefFacts(
        "01_cart:2", "01_cart", Archetype.REVIEWER, 1, mode=Mode.FINAL_REVIEW,
        change=Change("a", "b", expectations=(asked,)),
    )  # fmt: skip
    text = brief_markdown(facts)
    section = text.split("## Changed expectations: say of each whether you agree")[1].split("\n## ")[0]
    for words in ("SHALL add the bag", "t.py::test_a", "== 3", "== 4", "a bag", '"agree": true'):
        assert words in section
    change = brief_json(facts)["change"]
    assert isinstance(change, dict)
    assert change["expectations"] == [asdict(asked)]


WORDY = replace(
    AGAIN,
    tasks="- [ ] 1. Do it\n" * 40,
    requirements=PARTS,
    failing=(replace(AGAIN.failing[0], evidence="\n".join(f"line {number} of it" for number in range(900))),),
)


def test_a_short_brief_has_the_requirements_and_the_first_lines_and_counts_what_it_leaves_out() -> None:
    whole, short = brief_markdown(WORDY), brief_markdown(replace(WORDY, is_short=True))
    assert len(short) < len(whole) / 2
    assert all(part.text in short for part in PARTS)
    assert "line 2 of it" in short
    assert "line 3 of it" not in short
    assert "897 lines of evidence, 40 lines of tasks, 2 requirements that must stay green" in short
    assert "2 attempts before, 1 changed file, 1 test command" in short
    assert "$AGENT_FOX_BRIEF_JSON" in short
    assert brief_json(replace(WORDY, is_short=True)) == {**brief_json(WORDY), "is_short": True}


@pytest.mark.parametrize("facts", [WORDY, JUDGE])
def test_a_short_brief_is_bounded_however_much_there_is_to_say(facts: BriefFacts) -> None:
    many = tuple(Criterion(f"04-REQ-{number}.1", "text " * 200) for number in range(300))
    assert len(brief_markdown(replace(facts, requirements=many, is_short=True))) <= 4 * SHORT_TOKENS
