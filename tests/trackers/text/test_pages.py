"""What stands in an issue on GitHub: everything that an operator needs, within the limits, and nothing that acts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_fox.core.markdown import printable
from agent_fox.core.neutral import BREAK
from agent_fox.core.retry.filing import Says
from agent_fox.testing.github.notices import notices
from agent_fox.trackers.facts import (
    AttemptRow,
    ChangedTest,
    Exhibit,
    IssueFacts,
    IssueStatus,
    LedgerEnd,
    Place,
    StatusPart,
    Unproven,
)
from agent_fox.trackers.protocol import Effect, EffectKind
from agent_fox.trackers.text.pages import (
    LONGEST,
    LONGEST_TITLE,
    MOST_COMMENTS,
    RESERVED,
    Style,
    Written,
    plain_issue,
    plain_status,
    written,
)
from agent_fox.trackers.text.template import fence_after
from tests.github_reader import hostile, read

SHA = "0123456789abcdef0123456789abcdef01234567"
SECRET = "s3cr3t-ABCDEFGHIJKLMNOP"
OURS = ("https://github.com/o/r/commit/", "https://github.com/o/r/blob/")

STYLE = Style(
    commit_url=lambda sha: f"https://github.com/o/r/commit/{sha}",
    blob_url=lambda sha, path, line: f"https://github.com/o/r/blob/{sha}/{path}#L{line}",
    mask=lambda text: text.replace(SECRET, "[redacted]"),
)
BARE = replace(STYLE, commit_url=None, blob_url=None)

FACTS = IssueFacts(
    title="04_gate: 04-REQ-1.1 is not met (attempts spent)",
    spec="04_gate",
    node="04_gate:4",
    cause="attempts spent",
    run="7",
    commit=SHA,
    failing=(
        Unproven(
            "04-REQ-1.1",
            "WHEN @bob enters,\nTHE gate SHALL open.",
            "assert shut == open",
            "npx @a/b -k gate",
            "1 failed",
        ),
    ),
    unknown=("04-REQ-2.1",),
    attempts=(
        AttemptRow(1, "aaaaaaaaaaaa", 1.5, "04-REQ-1.1", "opened it"),
        AttemptRow(2, "", None, "04-REQ-1.1", "tried | again, see #26"),
    ),
    blocked=("05_desk:1",),
    exhibits=(
        Exhibit("04-REQ-1.1", "FAIL", "ab" * 32, "04_gate:4@2.1", SHA, "5794cc24d85d5f13", "1 checks", "rejected"),
    ),
    ledger=LedgerEnd("cd" * 32, 1234),
    waivers=("04-REQ-3.1 by a person until 2026-04-01: known",),
    places=(Place("src/gate.py", 12),),
)


def effect(*facts: IssueFacts, kind: EffectKind = EffectKind.FILE, says: Says = Says.FAILING, body: str = "") -> Effect:
    return Effect(
        "id", kind, "fp", facts[0].title if facts else "04_gate", body, facts=facts, says=says, spec="04_gate"
    )


def pages(page: Written) -> tuple[str, ...]:
    return (page.body, *page.more)


STATUS = IssueStatus(
    "04_gate: 04-REQ-1.1 fails: WHEN @bob enters, THE gate SHALL open.",
    "Stopped after 2 attempts. Needs you.",
    (
        StatusPart("04_gate", "04-REQ-1.2", "THE gate SHALL close.", "passes", is_open=False),
        StatusPart("04_gate", "04-REQ-1.1", "WHEN @bob enters,\nTHE gate SHALL open.", "fails"),
    ),
    SHA, "7", "1.50 USD", "2026-03-01T12:00:00Z",
)  # fmt: skip

BLOCK = f"""\
**Stopped after 2 attempts. Needs you.**

1 of 2 open, spent 1.50 USD, commit [`0123456789ab`](https://github.com/o/r/commit/{SHA}), run 7, 2026-03-01 12:00 UTC

| requirement | what it asks for | now |
|---|---|---|
| 04_gate/04-REQ-1.1 | WHEN @{BREAK}bob enters, THE gate SHALL open. | fails |
| 04_gate/04-REQ-1.2 | THE gate SHALL close. | passes |"""

BODY = f"""\
Stopped in spec `04_gate`, node `04_gate:4`, run `7`, commit [`0123456789ab`](https://github.com/o/r/commit/{SHA}): \
attempts spent.

```text
assert shut == open
```

To see that 04-REQ-1.1 fails, in any checkout of commit [`0123456789ab`](https://github.com/o/r/commit/{SHA}):

```sh
npx @{BREAK}a/b -k gate
```

An invisible character (U+200B) stands in it, so that nobody is notified. `agent-fox explain 04_gate:4` prints it \
without.

## What you must decide

**Fix it**: read the whole story, clarify the spec, set a stronger agent or help by hand, then give it new attempts:

```sh
agent-fox explain 04_gate:4
agent-fox reset 04_gate:4
agent-fox run
```

**Change the spec**, where it asks for the wrong thing; `agent-fox run` reads what changed:

```sh
agent-fox plan
agent-fox run
```

**Accept the gap**: sign a waiver (needs your key):

```sh
agent-fox waive 04-REQ-1.1 --spec 04_gate --reason '...' --expires 30d
agent-fox waive 04-REQ-2.1 --spec 04_gate --reason '...' --expires 30d
```

Run `agent-fox` in the checkout where this run was made: its state (`.agent-fox/`) is not in git. Any other checkout \
shows what fails by the test command, once the commit is pushed.

agent-fox closes this issue when all of the above pass.

## What fails

### 04-REQ-1.1

> WHEN @{BREAK}bob enters,
> THE gate SHALL open.

What was seen:

```text
assert shut == open
```

<details><summary>The end of the log</summary>

```text
1 failed
```

</details>

## No clear verdict

Neither PASS nor FAIL could be established for: 04-REQ-2.1

## In the code

- [`src/gate.py:12`](https://github.com/o/r/blob/{SHA}/src/gate.py#L12)

## What it holds back

05_desk:1

## Waivers in force

- 04-REQ-3.1 by a person until 2026-04-01: known

<details><summary>What was tried: 2 sessions, 1.50 USD, and 1 of unknown cost</summary>

| spec | attempt | commit | cost | what failed | what was done |
|---|---|---|---|---|---|
| 04_gate | 1 | [`aaaaaaaaaaaa`](https://github.com/o/r/commit/aaaaaaaaaaaa) | 1.50 USD | 04-REQ-1.1 | opened it |
| 04_gate | 2 |  | unknown | 04-REQ-1.1 | tried \\| again, see #{BREAK}26 |

The logs:

```sh
agent-fox logs 04_gate:4
```

</details>

<details><summary>Evidence and environment</summary>

| requirement | verdict | record | session | commit | environment | verifier | gate |
|---|---|---|---|---|---|---|---|
| 04_gate/04-REQ-1.1 | FAIL | `abababababab…` | `04_gate:4@{BREAK}2.1` \
| [`0123456789ab`](https://github.com/o/r/commit/{SHA}) | `5794cc24d85d5f13` | 1 checks | rejected |

Audit: `agent-fox ledger verify` (1,234 records, head `cdcdcdcdcdc…`)

```sh
agent-fox ledger show 04_gate/04-REQ-1.1
```

</details>
"""


def test_an_issue_tells_an_operator_everything_in_a_readable_order() -> None:
    assert written(effect(FACTS), STYLE) == Written(FACTS.title, BODY)


def test_title_and_block_say_how_the_issue_stands_now_what_is_open_first() -> None:
    page = written(replace(effect(FACTS), status=STATUS), STYLE)
    assert (page.title, page.status) == (STATUS.title.replace("@", f"@{BREAK}"), BLOCK)


def test_an_issue_in_a_file_is_the_same_text_that_can_be_copied_as_it_stands() -> None:
    plain = re.sub(r"\[(`[^`]+`)\]\(https:[^)]+\)", r"\1", BODY.replace(BREAK, ""))
    plain = re.sub(r"\n\nAn invisible character .*?without\.", "", plain, flags=re.DOTALL)
    assert plain_issue([FACTS], "a | title\n") == ("a | title", plain)
    assert plain_status(STATUS)[0] == STATUS.title
    assert plain_status(STATUS)[1] == re.sub(r"\[(`[^`]+`)\]\(https:[^)]+\)", r"\1", BLOCK.replace(BREAK, ""))


def test_a_command_and_a_log_that_many_share_stand_once() -> None:
    parts = tuple(Unproven(f"R{n}", "", "", "make check", "1 failed") for n in range(3))
    body = written(effect(replace(FACTS, failing=parts)), STYLE).body
    assert (body.count("make check"), body.count("1 failed")) == (1, 1)


def test_a_guessed_owner_is_told_between_a_requirement_and_what_was_seen() -> None:
    (part,) = FACTS.failing
    body = written(effect(replace(FACTS, failing=(replace(part, doubt="It is a guess of ours"),))), STYLE).body
    fails = body[body.index("## What fails") :]
    assert fails.index("SHALL open.") < fails.index("It is a guess of ours") < fails.index("What was seen:")


def test_without_addresses_commits_and_lines_are_code() -> None:
    body = written(effect(FACTS), BARE).body
    assert f"commit `{SHA}`: attempts spent" in body
    assert "- `src/gate.py:12`\n" in body
    assert read(body).links == ()


def test_a_command_of_ours_that_cannot_be_copied_says_so() -> None:
    body = written(effect(replace(FACTS, node="@bob:4")), BARE).body
    assert f"agent-fox logs @{BREAK}bob:4\n" in body
    assert "so that nobody is notified. Take it out before you run this." in body


def test_an_address_that_is_none_makes_no_link() -> None:
    odd = replace(
        STYLE, commit_url=lambda _: "javascript:alert(1)", blob_url=lambda *_: "https://x/) ![i](http://e.vil"
    )
    assert read(written(effect(FACTS), odd).body).links == ()


def test_one_cause_in_many_specs_is_one_issue_that_begins_with_their_table() -> None:
    every = [replace(FACTS, spec=f"{n:02}_spec", node=f"{n:02}_spec:4") for n in range(60)]
    page = written(effect(*every), STYLE)
    assert page.body.startswith("Stopped in spec `00_spec`, node `00_spec:4`, run `7`, commit ")
    assert " and 59 more specs: attempts spent.\n" in page.body
    rows = re.findall(r"^\| (\d\d_spec) \| `\d\d_spec:4` \| 1 \| 04-REQ-1\.1 \|$", page.body, re.MULTILINE)
    assert rows == [facts.spec for facts in every]
    assert "### 04-REQ-1.1 (00_spec)" in page.body
    assert all(len(text) <= LONGEST - RESERVED for text in pages(page))


def test_failing_again_says_first_what_changed() -> None:
    again = replace(FACTS, repaired=("04-REQ-9.9",), reason="it is stuck")
    body = written(effect(again, kind=EffectKind.COMMENT), STYLE).body
    first, _, repaired, _, reason, *_ = body.splitlines()
    assert first.startswith("**Still failing**: 1, attempts spent (spec `04_gate`, node `04_gate:4`, run `7`")
    assert repaired == "Fixed since the last update: 04-REQ-9.9"
    assert (reason, "it is stuck" in body) == ("```text", True)
    assert "## What fails" in body
    assert "Stopped in" not in body
    told = replace(effect(again, kind=EffectKind.COMMENT), status=STATUS)
    assert written(told, STYLE).body.startswith("**Still failing**: 1 of 2, attempts spent")
    digest = replace(told, status=replace(STATUS, is_digest=True))
    assert written(digest, STYLE).body.startswith("**Also failing**: 1 of 2, attempts spent")


@pytest.mark.parametrize("says", [Says.PROGRESS, Says.PROOF])
def test_what_was_decided_elsewhere_is_told_in_its_own_words_first(says: Says) -> None:
    told = f"Proven: all 3 requirements of 04_gate pass on commit `{SHA}`.\n"
    body = written(effect(FACTS, kind=EffectKind.CLOSE, says=says, body=told), STYLE).body
    assert body.splitlines()[0] == told.strip()
    assert f"commit [`0123456789ab`](https://github.com/o/r/commit/{SHA})" in body
    assert "## What fails" not in body


def test_a_row_without_facts_is_told_from_its_text() -> None:
    text = "Proven by @bob, closes #26, see https://github.com/a/b/issues/1 <img src=x>\n"
    body = written(effect(body=text, says=Says.PROOF), STYLE).body
    assert printable(body) == text
    assert read(body).acts() == []


def test_without_any_text_the_title_is_told() -> None:
    assert written(effect(says=Says.PROOF), STYLE) == Written("04_gate", "04_gate\n")
    assert written(replace(effect(), title=" \u202e"), STYLE).title == "Not proven"


def test_a_comment_on_a_persons_issue_is_the_text_alone() -> None:
    source = replace(effect(FACTS, kind=EffectKind.COMMENT, body="3 of 4 requirements pass."), target="o/r#7")
    assert written(source, STYLE).body.startswith("3 of 4 requirements pass.\n")
    assert "What fails" not in written(source, STYLE).body


def test_hundreds_of_requirements_go_to_comments_and_what_is_left_out_is_counted() -> None:
    many = replace(
        FACTS, failing=tuple(replace(FACTS.failing[0], id=f"04-REQ-{n}", evidence="E \n" * 900) for n in range(500))
    )
    page = written(effect(many), STYLE)
    shown = [re.findall(r"^### (04-REQ-\d+)$", text, re.MULTILINE) for text in pages(page)]
    in_order = [name for text in shown for name in text]
    assert in_order == [part.id for part in many.failing[: len(in_order)]]
    assert len(page.more) == MOST_COMMENTS
    assert f"{500 - len(shown[0]):,} more in the comments below: 04-REQ-{len(shown[0])}, " in page.body
    assert f"\n{500 - len(in_order):,} more: 04-REQ-{len(in_order)}, " in page.more[-1]
    assert page.more[-1].endswith("```sh\nagent-fox explain 04_gate:4\n```\n")
    assert "\nagent-fox closes this issue when all of the above pass.\n" in page.body


def test_megabyte_of_evidence_shows_its_start_and_its_end_and_how_much_is_missing() -> None:
    evidence = "first line\n" + "x @bob `` $ <img>\n" * 110_000 + "last line"
    page = written(effect(replace(FACTS, failing=(replace(FACTS.failing[0], evidence=evidence),))), STYLE)
    assert page.more == ()
    assert "\nfirst line\n" in page.body
    assert "\nlast line\n" in page.body
    assert re.search(r"… \([\d,]{9} characters left out here\) …", page.body)


def test_a_file_of_nothing_but_the_longest_stays_within_every_limit() -> None:
    long = "`" * 9 + "$ @x #1 | \\ " * 400
    facts = IssueFacts(
        title=long, spec=long, node=long, cause=long, run=long, commit=long, reason=long,
        failing=tuple(Unproven(f"{n} {long}", long, long, long) for n in range(40)),
        unknown=(long,) * 50, attempts=tuple(AttemptRow(n, long, 1.0, long, long) for n in range(50)),
        blocked=(long,) * 50, exhibits=tuple(Exhibit(*[long] * 8) for _ in range(50)), ledger=LedgerEnd(long, 10**9),
        waivers=(long,) * 50, repaired=(long,) * 50, places=(Place(long, 10**9),) * 50, best=long,
        lost=(Unproven(*[long] * 4),) * 50,
    )  # fmt: skip
    for kind in (EffectKind.FILE, EffectKind.COMMENT):
        page = written(effect(facts, facts, kind=kind), STYLE)
        assert 0 < len(page.title) <= LONGEST_TITLE
        assert len(page.more) == MOST_COMMENTS
        for text in pages(page):
            assert len(text) <= LONGEST - RESERVED
            assert read(text).acts() == []
            assert open_fence(text) == ""
        assert "## What you must decide" in page.body


def test_a_text_from_elsewhere_that_is_too_long_is_cut_and_its_code_closed() -> None:
    page = written(effect(says=Says.PROOF, body="```text\n" + "line @bob\n" * 9_000 + "```\n"), STYLE)
    assert len(page.body) <= LONGEST - RESERVED
    assert open_fence(page.body) == ""
    assert read(page.body).blocks == ("fence code text `", "paragraph p", "fence code sh `")
    assert page.body.endswith("more characters:\n\n```sh\nagent-fox explain 04_gate\n```\n")


def with_text(text: str) -> IssueFacts:
    """Every field that somebody else could have written holds `text`."""
    return IssueFacts(
        title=text, spec=text, node=text, cause=text, run=text, commit=text, reason=text,
        failing=(Unproven(text, text, text, text, text), Unproven("B", text, text, text)), unknown=(text, text),
        attempts=(AttemptRow(1, text, 1.0, text, text), AttemptRow(2, text, 1.0, text, text)), blocked=(text, text),
        exhibits=(Exhibit(*[text] * 8), Exhibit(*[text] * 8)), ledger=LedgerEnd(text, 1),
        waivers=(text, text), known=(text, text),
        repaired=(text, text), places=(Place(text, 1), Place(text, 2)), best=text,
        lost=(Unproven(text, text, text, text),), changed_tests=(ChangedTest(*[text] * 5),) * 2,
        before_waiving=(text, text),
    )  # fmt: skip


def test_no_field_of_the_facts_is_forgotten_here() -> None:
    assert {field.name for field in fields(IssueFacts)} == {
        *("title", "spec", "node", "cause", "run", "commit", "reason", "failing", "unknown", "attempts", "blocked"),
        *(
            "exhibits",
            "ledger",
            "waivers",
            "repaired",
            "places",
            "best",
            "lost",
            "changed_tests",
            "known",
            "before_waiving",
        ),
    }


@given(hostile, st.sampled_from(list(EffectKind)))
def test_no_text_in_any_field_notifies_links_closes_loads_or_draws(text: str, kind: EffectKind) -> None:
    parts = (StatusPart(text, text, text, text), StatusPart("", "", "", ""))
    status = IssueStatus(text, text, parts, text, text, text, text)
    made = replace(effect(with_text(text), kind=kind), status=status)
    page = written(made, STYLE)
    assert written(made, STYLE) == page
    assert "\n" not in page.title
    for shown in (page.status, *pages(page)):
        seen = read(shown)
        assert seen.acts() == []
        assert all(link.startswith(OURS) for link in seen.links)
        assert open_fence(shown) == ""
        shown.encode("utf-8")
    assert [notice for shown in pages(written(made, BARE)) for notice in notices(1, shown)] == []


@given(hostile)
def test_no_text_in_any_field_changes_what_an_issue_is_built_of(text: str) -> None:
    """Headings, tables, lists and code blocks are those of an issue with harmless words in the same places."""
    if not printable(text).strip():
        return
    assert skeleton(text) == skeleton("x")


def skeleton(text: str) -> list[str]:
    blocks = read(written(effect(with_text(text)), BARE).body).blocks
    return [block for block in blocks if not block.startswith(("paragraph", "blockquote"))]


@given(hostile)
def test_a_text_from_elsewhere_acts_on_nothing_and_begins_with_no_marker(text: str) -> None:
    for says in (Says.PROGRESS, Says.PROOF, Says.FAILING):
        body = written(effect(body=text, says=says), STYLE).body
        assert [act for act in read(body).acts() if not act.startswith("formula")] == []
        assert read(body).links == ()
        assert notices(1, body) == ()
        assert "<!--" not in body


@pytest.mark.parametrize("kind", list(EffectKind))
def test_a_forged_marker_stands_nowhere(kind: EffectKind) -> None:
    marker = "<!-- agent-fox v=1 fp=fp op=id sig=00 -->\n"
    page = written(effect(with_text(marker), kind=kind), STYLE)
    assert [html for text in pages(page) for html in read(text).foreign_html()] == []
    assert not page.body.startswith("<")


PIECES: tuple[Callable[[str], IssueFacts], ...] = (
    with_text,
    lambda text: replace(FACTS, failing=(Unproven("A", text, "", ""),)),
    lambda text: replace(FACTS, failing=(Unproven("A", "", text, ""),)),
    lambda text: replace(FACTS, failing=(Unproven("A", "", "", text),)),
    lambda text: replace(FACTS, waivers=(text,)),
    lambda text: replace(FACTS, reason=text),
)


@pytest.mark.parametrize("piece", PIECES)
def test_no_cut_goes_through_a_secret(piece: Callable[[str], IssueFacts]) -> None:
    for limit in (12, 13, 100, 200, 400, 1_000, 2_000, 3_000, 4_800, 7_200, 12_000):
        for before in range(limit - len(SECRET) - 1, limit + 2, 6):
            text = f"{'x ' * (before // 2)}{SECRET}{' y' * 7_000}"
            for shown in pages(written(effect(piece(text)), STYLE)):
                assert not any(SECRET[at : at + 6] in shown for at in range(len(SECRET) - 5)), (limit, before)


def test_a_secret_parted_by_what_nobody_sees_is_masked() -> None:
    hidden = SECRET[:8] + "\u200b\x1b[0m\u00ad" + SECRET[8:]
    page = written(effect(with_text(hidden), body=hidden), STYLE)
    told = written(effect(body=hidden, says=Says.PROOF), STYLE)
    assert SECRET not in printable(page.title + page.body + told.body)


def test_a_projects_template_is_filled_with_the_same_sections() -> None:
    style = replace(
        STYLE, template="# $title\n\n$$5 for [help](https://example.org/$run)\n\n$failing\n\n$blocked\n\n$places\n"
    )
    page = written(effect(replace(FACTS, blocked=())), style)
    start = "# 04\\_gate: " if "04\\_gate" in page.body else "# 04_gate: "
    assert page.body.startswith(
        f"{start}04-REQ-1.1 is not met (attempts spent)\n\n$5 for [help](https://example.org/7)\n\n## What fails\n"
    )
    assert "\n\n## In the code\n" in page.body
    assert "\n\n\n" not in page.body


def test_a_template_that_names_what_fails_twice_stays_within_the_limit() -> None:
    many = replace(
        FACTS, failing=tuple(replace(FACTS.failing[0], id=f"R{n}", evidence="E \n" * 900) for n in range(50))
    )
    page = written(effect(many), replace(STYLE, template="$failing\n\n$failing\n"))
    assert all(len(text) <= LONGEST - RESERVED for text in pages(page))
    assert "more characters:" not in page.body


@given(hostile)
def test_a_template_keeps_foreign_text_neutral(text: str) -> None:
    template = (
        "# $title\n$spec | `$node` | **$cause** | $run\n\n"
        "```sh\nagent-fox explain $node\n```\n\n$commit\n\n$failing\n\n$next_step\n"
    )
    body = written(effect(with_text(text)), replace(STYLE, template=template)).body
    page = read(body)
    assert page.acts() == []
    assert all(link.startswith(OURS) for link in page.links)
    assert open_fence(body) == ""


def open_fence(text: str) -> str:
    fence = ""
    for line in text.split("\n"):
        fence = fence_after(fence, line)
    return fence


def test_where_nobody_is_trusted_the_keys_come_before_the_waiver() -> None:
    first = ("agent-fox keys new waiver", "agent-fox keys trust waiver --for waiver")
    body = written(effect(replace(FACTS, before_waiving=first)), STYLE).body
    commands = "\n".join((*first, "agent-fox waive 04-REQ-1.1 --spec 04_gate --reason '...' --expires 30d"))
    assert f"none is trusted here yet, so the first lines make one):\n\n```sh\n{commands}" in body


def test_an_issue_says_where_the_branch_stands_and_what_the_last_attempt_lost() -> None:
    lost = (Unproven("04-REQ-7", "Rain is reported.", "no rain"),)
    facts = replace(FACTS, best="the last attempt lost 1 of 3; the branch stands at attempt 2", lost=lost)
    _, body = plain_issue([facts], "t")
    told = body[body.index("## The last attempt") :]
    assert "> the last attempt lost 1 of 3; the branch stands at attempt 2" in told
    assert "### 04-REQ-7" in told
    assert "no rain" in told


def test_an_issue_without_records_says_nothing_of_the_ledger() -> None:
    _, body = plain_issue([IssueFacts("t", "s", "n:1", "c", reason="it is blocked")], "t")
    assert "Evidence" not in body
    assert "agent-fox waive" not in body


def test_a_file_stays_within_its_bounds_and_names_what_it_leaves_out() -> None:
    long = "`" * 9 + "x" * 50_000
    many = replace(
        FACTS, failing=tuple(Unproven(f"04-REQ-{n}", long, long, f"{n}{long}", long) for n in range(500)),
        attempts=tuple(AttemptRow(n, long, 1.0, long, long) for n in range(500)),
        waivers=tuple(f"{n} {long}" for n in range(500)),
        exhibits=tuple(Exhibit(*[f"{n} {long}"] * 8) for n in range(500)),
    )  # fmt: skip
    title, body = plain_issue([many], long)
    assert (len(title), len(body) <= LONGEST, open_fence(body)) == (LONGEST_TITLE, True, "")
    for left_out in (
        r"\n\d+ more: 04-REQ-",
        r"Earlier attempts left out: \d+",
        r"- and \d+ more: `agent-fox waive --list`",
    ):
        assert re.search(left_out, body), left_out
    assert body.count("<details>") == body.count("</details>")


@example("~~~>")
@given(st.text(alphabet=st.sampled_from("`~\n\r\x00\x1b[m@#|->a\ud800 "), max_size=200))
def test_no_evidence_can_leave_its_block_in_a_file_or_bring_control_characters(evidence: str) -> None:
    _, body = plain_issue([with_text(evidence)], evidence)
    body.encode("utf-8")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", body)
    assert open_fence(body) == ""
