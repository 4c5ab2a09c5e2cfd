"""The text of an issue: complete, reproducible, bounded, and safe whatever the evidence holds."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.trackers.text import (
    LONGEST_BODY,
    LONGEST_TITLE,
    MOST_PLACES,
    AttemptRow,
    Exhibit,
    IssueFacts,
    LedgerEnd,
    Place,
    Unproven,
    issue_text,
    places_in,
)

FACTS = IssueFacts(
    title="04_gate: 2 requirements are not proven (attempts spent)",
    spec="04_gate",
    node="04_gate:4",
    cause="attempts spent",
    run="7",
    commit="0123456789abcdef0123456789abcdef01234567",
    failing=(
        Unproven("04-REQ-1.1", "WHEN a car enters,\nTHE gate SHALL open.", "assert shut == open", "pytest -k gate"),
    ),
    unknown=("04-REQ-2.1",),
    attempts=(
        AttemptRow(1, "aaaaaaaaaaaaaaaaaaaa", 1.5, "04-REQ-1.1", "opened it"),
        AttemptRow(2, "", None, "04-REQ-1.1", "tried | again"),
    ),
    blocked=("05_desk:1", "05_desk:2"),
    exhibits=(
        Exhibit(
            "04-REQ-1.1", "FAIL", "ab" * 32, "04_gate:4@2.1", "c0ffee" * 6, "5794cc24d85d5f13", "1 checks", "rejected"
        ),
        Exhibit("04-REQ-2.1", "UNKNOWN"),
    ),
    ledger=LedgerEnd("cd" * 32, 1234),
    waivers=("04-REQ-3.1 by a person until 2026-04-01: known",),
)

BODY = """\
Work has stopped: **attempts spent**. It waits for a person (spec `04_gate`, node `04_gate:4`, run `7`, \
commit `0123456789abcdef0123456789abcdef01234567`).

## What fails

### 04-REQ-1.1

> WHEN a car enters,
> THE gate SHALL open.

To see it:

```sh
pytest -k gate
```

What was seen:

```text
assert shut == open
```

## No clear verdict

Neither PASS nor FAIL could be established for: 04-REQ-2.1

## Evidence

| requirement | verdict | record | session | commit | environment | verifier | gate |
|---|---|---|---|---|---|---|---|
| 04-REQ-1.1 | FAIL | `abababababab` | `04_gate:4@2.1` | `c0ffeec0ffee` | `5794cc24d85d5f13` | 1 checks | rejected |
| 04-REQ-2.1 | UNKNOWN |  |  |  |  |  |  |

These records stand in the evidence ledger; after 1,234 of them its head was \
`cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd`. \
The whole chain of each, and whether anything of it was changed:

```sh
agent-fox ledger show 04_gate/04-REQ-1.1
agent-fox ledger show 04_gate/04-REQ-2.1
agent-fox ledger verify
```

## Waivers in force

- 04-REQ-3.1 by a person until 2026-04-01: known

## What was tried

| attempt | commit | cost | what failed | what was done |
|---|---|---|---|---|
| 1 | `aaaaaaaaaaaa` | $1.50 | 04-REQ-1.1 | opened it |
| 2 |  | unknown | 04-REQ-1.1 | tried \\| again |

## What waits for it

05_desk:1, 05_desk:2

## Next step

Read the whole story, mend what stands in the way (work, spec or environment), then give it a new budget:

```sh
agent-fox explain 04_gate:4
agent-fox reset 04_gate:4
agent-fox run
```

Where the spec asks for the wrong thing, change its text: `agent-fox run` then reads it again by itself. \
Where it is to be accepted unproven, a person signs for that:

```sh
agent-fox waive 04-REQ-1.1 --spec 04_gate --reason '...' --expires 30d
agent-fox waive 04-REQ-2.1 --spec 04_gate --reason '...' --expires 30d
```

This issue is closed with the proof once everything in it is proven.
"""


def test_an_issue_says_what_fails_how_to_see_it_what_was_tried_and_what_to_do() -> None:
    assert issue_text(FACTS) == (FACTS.title, BODY)


def test_an_issue_stays_within_its_bounds_and_names_what_it_leaves_out() -> None:
    long = "`" * 9 + "x" * 50_000
    title, body = issue_text(
        IssueFacts(
            title=long,
            spec=long,
            node="04_gate:4",
            cause=long,
            run=long,
            commit=long,
            failing=tuple(Unproven(f"04-REQ-{n}", long, long, long) for n in range(500)),
            unknown=("04-REQ-9",) * 5_000,
            attempts=tuple(AttemptRow(n, long, 1.0, long, long) for n in range(500)),
            blocked=("05_desk:1",) * 5_000,
            reason=long,
            exhibits=tuple(Exhibit(*[f"{n} {long}"] * 8) for n in range(500)),
            ledger=LedgerEnd(long, 10**9),
            waivers=(long,) * 500,
            best=long,
            lost=tuple(Unproven(f"04-REQ-{n}", long, long, long) for n in range(500)),
        )
    )
    assert len(title) <= LONGEST_TITLE
    assert len(body) <= LONGEST_BODY
    assert re.search(r"And \d+ more: 04-REQ-", body)
    assert "Earlier attempts left out: " in body
    assert re.search(r"And \d+ more\.", body)
    assert re.search(r"- and \d+ more: `agent-fox waive --list`", body)
    assert "| 499 |" in body
    assert open_blocks(body) == []


def test_an_issue_without_records_says_nothing_of_the_ledger() -> None:
    _, body = issue_text(IssueFacts("t", "s", "n:1", "c", reason="it is blocked"))
    assert "## Evidence" not in body
    assert "agent-fox waive" not in body


@given(st.text(alphabet=st.sampled_from("`~\n\r\x00\x1b[m@#|->a\ud800 "), max_size=200))
def test_no_evidence_can_leave_its_block_or_bring_control_characters(evidence: str) -> None:
    _, body = issue_text(
        IssueFacts(
            "t",
            "s",
            "n:1",
            "c",
            failing=(Unproven("A", evidence, evidence, evidence),),
            exhibits=(Exhibit(*[evidence] * 8),),
            ledger=LedgerEnd(evidence, 1),
            waivers=(evidence,),
        )
    )
    body.encode("utf-8")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", body)
    assert open_blocks(body) == []
    assert body.endswith("This issue is closed with the proof once everything in it is proven.\n")


@pytest.mark.parametrize(
    ("output", "place"),
    [
        ("tests/test_gate.py:12: AssertionError", Place("tests/test_gate.py", 12)),
        ('  File "src/the gate.py", line 3, in open', Place("src/the gate.py", 3)),
        ("./src/main.ts(10,5): error TS1", Place("src/main.ts", 10)),
        (" --> src/main.rs:10:5", Place("src/main.rs", 10)),
        ("    at open (src/gate.js:7:1)", Place("src/gate.js", 7)),
        (".github/checks.yml:4: bad", Place(".github/checks.yml", 4)),
        ("node_modules/@a/b.js:1", Place("node_modules/@a/b.js", 1)),
    ],
)
def test_a_line_of_code_is_found_as_tools_write_it(output: str, place: Place) -> None:
    assert places_in(output) == (place,)


@pytest.mark.parametrize(
    "output",
    [
        *("/usr/lib/x.py:3", 'File "/usr/x.py", line 3', "../x.py:3", "a/../../x.py:3", 'File "../x.py", line 3'),
        *("https://example.org:443/x", "127.0.0.1:80", "C:\\x\\gate.py:3", "~/x.py:3", "gate.py:0", "gate:3", "12:30"),
        *('File "<string>", line 1', "example.org:443/x"),
    ],
)
def test_what_cannot_be_a_file_below_the_root_is_no_place(output: str) -> None:
    assert places_in(output) == ()


def test_each_place_is_named_once_in_order_and_not_too_many() -> None:
    assert places_in("b.py:2 a.py:1 b.py:2") == (Place("b.py", 2), Place("a.py", 1))
    assert len(places_in("".join(f"a.py:{n}\n" for n in range(1, 100)))) == MOST_PLACES


def test_a_megabyte_of_what_is_nearly_a_place_is_read_in_no_time() -> None:
    for text in ("a+", "a.b", 'File "', "./", "a.py:1/", "a.b:"):
        assert len(places_in(text * 300_000)) <= 1


def open_blocks(body: str) -> list[str]:
    """Fences that never close, read as Markdown does."""
    fence = ""
    for line in body.splitlines():
        found = re.match(r"(`{3,})(\w*)$", line)
        if found and not fence:
            fence = found[1]
        elif found and not found[2] and len(found[1]) >= len(fence):
            fence = ""
    return [fence] if fence else []


def test_an_issue_says_where_the_branch_stands_and_what_the_last_attempt_lost() -> None:
    lost = (Unproven("04-REQ-7", "Rain is reported.", "no rain"),)
    facts = replace(FACTS, best="the last attempt lost 1 of 3; the branch stands at attempt 2", lost=lost)
    _, body = issue_text(facts)
    said = body[body.index("## The last attempt") :]
    assert "> the last attempt lost 1 of 3; the branch stands at attempt 2" in said
    assert "### 04-REQ-7" in said
    assert "no rain" in said


def test_where_nobody_is_trusted_the_keys_come_before_the_waiver() -> None:
    first = ("agent-fox keys new waiver", "agent-fox keys trust waiver --for waiver")
    _, body = issue_text(replace(FACTS, before_waiving=first))
    commands = "\n".join((*first, "agent-fox waive 04-REQ-1.1 --spec 04_gate --reason '...' --expires 30d"))
    assert f"which nobody's is where this was found:\n\n```sh\n{commands}" in body
