"""The rules of the close-out gate: each row of its table, what waivers cover, and where a change went."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.ledger.close_out import (
    MOST_NAMED,
    Check,
    CloseOut,
    Contract,
    FeedbackRecord,
    Finding,
    FindingWaiver,
    RuleReport,
    Severity,
    Verification,
    detail_hash,
    judge,
)
from agent_fox.core.ledger.close_out_scope import (
    Boundary,
    ScopeReport,
    Touched,
    is_forbidden,
    matches,
    paths_named,
    scope_of,
    target_of,
    why_no_pattern,
)

RAN = FeedbackRecord("pytest -q", 0)
GOOD = CloseOut("T", (RAN,))


def told(given: CloseOut) -> list[tuple[str, str, str]]:
    return [(one.check.value, one.severity.value, one.detail) for one in judge(given).findings]


def test_a_task_whose_commands_ended_well_and_that_stayed_in_its_place_passes() -> None:
    found = judge(GOOD)
    assert (found.passed, found.findings) == (True, ())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (replace(GOOD, feedback=()), ("acceptance_ran", "block", "No feedback records — no commands executed")),
        (
            replace(GOOD, feedback=(FeedbackRecord("make", None),)),
            ("null_exit_code", "block", "Command 'make' has null exit code"),
        ),
        (
            replace(GOOD, feedback=(FeedbackRecord("make", 2, "out", "no rule"),)),
            ("nonzero_exit", "block", "Command 'make' exited 2: no rule"),
        ),
        (
            replace(GOOD, scope=ScopeReport(forbidden_writes=(".env",))),
            ("forbidden_write", "block", "Wrote to forbidden path: .env"),
        ),
        (
            replace(GOOD, scope=ScopeReport(off_scope_writes=("x.py",))),
            ("off_scope_write", "block", "Wrote outside allowed scope: x.py"),
        ),
        (
            replace(GOOD, rules=RuleReport(("no-secrets",), ())),
            ("rule_block", "block", "Rule 'no-secrets' failed at block severity"),
        ),
        (
            replace(GOOD, rules=RuleReport((), ("long-lines",))),
            ("rule_warn", "warn", "Rule 'long-lines' failed at warn severity"),
        ),
        (
            replace(GOOD, scope=ScopeReport(touched_outside=("x.py",))),
            ("touched_outside", "warn", "Touched a file that is not among the allowed files: x.py"),
        ),
        (
            replace(GOOD, contract=Contract(expected=("pytest -q", "ruff check"))),
            ("acceptance_ran", "block", "Expected command 'ruff check' has not run"),
        ),
    ],
)
def test_each_row_of_the_table_gives_its_finding(given: CloseOut, expected: tuple[str, str, str]) -> None:
    assert told(given) == [expected]
    assert judge(given).passed is (expected[1] == "warn")


def test_a_write_off_scope_is_a_warning_where_the_settings_say_so() -> None:
    scope = ScopeReport(off_scope_writes=("x.py",))
    found = judge(replace(GOOD, scope=scope, contract=Contract(off_scope=Severity.WARN)))
    assert (found.passed, [one.severity for one in found.findings]) == (True, [Severity.WARN])


def test_the_last_run_of_a_command_counts_and_an_earlier_failure_is_shown() -> None:
    failed, fixed = FeedbackRecord("make", 1, stderr="red"), FeedbackRecord("make", 0)
    found = judge(CloseOut("T", (failed, fixed)))
    assert found.passed
    shown = Finding(Check.NONZERO_EXIT, Severity.WARN, "Command 'make' exited 1 (it ran again later): red")
    assert found == Verification("T", (shown,))
    assert not judge(CloseOut("T", (fixed, failed))).passed


def test_a_null_exit_code_blocks_even_if_the_command_ran_well_later() -> None:
    assert not judge(CloseOut("T", (FeedbackRecord("make", None), FeedbackRecord("make", 0)))).passed


def test_a_command_that_only_begins_like_the_expected_one_is_not_it() -> None:
    contract = Contract(expected=("pytest",))
    assert not judge(CloseOut("T", (FeedbackRecord("pytest --co", 0),), contract=contract)).passed
    assert judge(CloseOut("T", (FeedbackRecord(" pytest ", 0),), contract=contract)).passed


def test_nothing_needs_to_have_run_where_the_contract_expects_nothing() -> None:
    assert judge(CloseOut("T", contract=Contract(needs_feedback=False))).passed
    assert not judge(CloseOut("T", contract=Contract(expected=("make",), needs_feedback=False))).passed


def test_what_is_only_shown_stands_apart_from_what_holds_a_task_back() -> None:
    found = judge(replace(GOOD, rules=RuleReport(("no-secrets",), ("long-lines",))))
    assert [one.check for one in found.blocking] == [Check.RULE_BLOCK]
    assert [one.check for one in found.warnings] == [Check.RULE_WARN]


def test_only_the_waiver_of_exactly_this_finding_sets_it_aside() -> None:
    given = replace(GOOD, scope=ScopeReport(forbidden_writes=(".env",)))
    (finding,) = judge(given).findings
    waiver = FindingWaiver("forbidden_write", finding.detail_hash, "w1", "ada", "a template")
    others = (replace(waiver, check="off_scope_write"), replace(waiver, detail_hash="0" * 16))
    assert not judge(given, others).passed
    found = judge(given, (*others, waiver))
    assert (found.passed, found.waivers) == (True, (waiver,))


def test_a_waiver_that_nothing_blocks_is_not_used() -> None:
    given = replace(GOOD, rules=RuleReport((), ("style",)))
    (finding,) = judge(given).findings
    assert judge(given, (FindingWaiver("rule_warn", finding.detail_hash, "w", "ada", "x"),)).waivers == ()


def test_many_findings_of_a_check_end_in_one_that_holds_for_exactly_the_rest() -> None:
    names = tuple(f"f{number:04}" for number in range(MOST_NAMED + 3))
    found = judge(replace(GOOD, scope=ScopeReport(forbidden_writes=names))).findings
    other = judge(replace(GOOD, scope=ScopeReport(forbidden_writes=(*names[:-1], "other")))).findings
    rest = hashlib.sha256(b"f0200\0f0201\0f0202").hexdigest()
    last = Finding(Check.FORBIDDEN_WRITE, Severity.BLOCK, f"Wrote to forbidden path: 3 more (sha256 {rest})")
    assert (len(found), found[-1]) == (MOST_NAMED + 1, last)
    assert found[-1].detail_hash != other[-1].detail_hash


def test_names_that_hold_half_a_character_are_told_apart_too() -> None:
    names = tuple(f"f{number:04}" for number in range(MOST_NAMED))
    one, other = (
        judge(replace(GOOD, scope=ScopeReport(forbidden_writes=(*names, half)))).findings[-1]
        for half in ("\ud800", "\ud801")
    )
    assert one.detail != other.detail
    assert detail_hash("\ud800") != detail_hash("\ud801")


def test_the_hash_of_a_detail_is_the_first_sixteen_digits_of_its_sha256() -> None:
    assert Finding(Check.INPUT, Severity.BLOCK, "abc").detail_hash == "ba7816bf8f01cfea"


records = st.builds(FeedbackRecord, st.sampled_from(["a", "b"]), st.sampled_from([None, 0, 1]))


@given(st.lists(records, max_size=5), st.lists(st.sampled_from(["a", "c"]), max_size=2))
def test_a_task_passes_only_if_something_ran_no_code_is_null_and_every_last_run_is_zero(
    feedback: list[FeedbackRecord], expected: list[str]
) -> None:
    last = {record.command: record.exit_code for record in feedback}
    good = bool(feedback) and all(record.exit_code is not None for record in feedback)
    good = good and not any(last.values()) and last.keys() >= set(expected)
    given = CloseOut("T", tuple(feedback), contract=Contract(expected=tuple(expected)))
    assert judge(given).passed is good
    assert judge(given) == judge(given)


@pytest.mark.parametrize(
    ("pattern", "path", "is_it"),
    [
        ("src/app.py", "src/app.py", True),
        ("./src//app.py", "src/app.py", True),
        ("src", "src/deep/app.py", True),
        ("src/", "src/app.py", True),
        ("src", "src2/app.py", False),
        ("src/*.py", "src/app.py", True),
        ("src/*.py", "src/deep/app.py", False),
        ("src/**/*.py", "src/app.py", True),
        ("src/**/*.py", "src/a/b/app.py", True),
        ("**/app.py", "app.py", True),
        ("**", "anything/at/all", True),
        ("app/[id]/page.tsx", "app/[id]/page.tsx", True),
        ("app/[id]/page.tsx", "app/i/page.tsx", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("Src/app.py", "src/app.py", False),
        ("a.c", "abc", False),
    ],
)
def test_a_pattern_names_what_it_says_and_what_lies_below(pattern: str, path: str, is_it: bool) -> None:
    assert matches(pattern, path) is is_it


@pytest.mark.parametrize("path", ["secrets/key", "Secrets/KEY", "SECRETS", "secrets", "ſecrets/key", "ｓecrets/key"])
def test_what_is_forbidden_is_forbidden_in_every_spelling(path: str) -> None:
    assert is_forbidden(path, ["secrets/"])


def test_a_file_in_the_place_of_a_folder_above_is_forbidden_too() -> None:
    assert is_forbidden("config", ["config/prod/**"])
    assert not is_forbidden("conf", ["config/prod/**"])


@pytest.mark.parametrize(
    ("why", "patterns"),
    [
        ("it names nothing", ["", ".", "./", "a\0b"]),
        ("it is not counted from the repository's root", ["/etc/passwd", "~/x", "C:/x", "c:/x", "a\\b"]),
        ("it has a `..` in it", ["a/../b", ".."]),
        ("", ["a", "a/b..c", "a.b/**", "1:/x"]),
    ],
)
def test_a_pattern_that_leaves_the_repository_is_none(why: str, patterns: list[str]) -> None:
    assert {pattern: why_no_pattern(pattern) for pattern in patterns} == dict.fromkeys(patterns, why)


@pytest.mark.parametrize(
    ("path", "target", "leads"),
    [
        ("a/link", "b", "a/b"),
        ("a/link", "../b", "b"),
        ("a/link", "../../b", None),
        ("link", "/etc", None),
        ("link", ".", ""),
        ("a/b/link", "./../c", "a/c"),
        ("a/link", "../b//c/", "b/c"),
    ],
)
def test_a_link_leads_where_its_target_says(path: str, target: str, leads: str | None) -> None:
    assert target_of(Touched(path, target)) == leads


def test_a_path_is_forbidden_off_scope_or_outside_in_this_order() -> None:
    touched = [Touched("src/a"), Touched("b"), Touched(".env"), Touched("src/link", "../.env")]
    bound = scope_of(Boundary(("src",), (), (".env",)), touched)
    assert bound.forbidden_writes == (".env", "src/link -> ../.env")
    assert (bound.off_scope_writes, bound.touched_outside) == (("b",), ())
    named = scope_of(Boundary((), ("src",)), touched)
    assert (named.off_scope_writes, named.touched_outside) == ((), (".env", "b", "src/link -> ../.env"))


def test_a_file_that_is_no_link_leads_nowhere() -> None:
    assert scope_of(Boundary(("src/a",), (), ("src/x",)), [Touched("src/a")]) == ScopeReport(("src/a",))


def test_a_link_out_of_the_repository_is_not_among_what_is_allowed() -> None:
    assert scope_of(Boundary(("src",)), [Touched("src/l", "/etc/passwd")]).off_scope_writes == ("src/l -> /etc/passwd",)


def test_without_a_word_on_what_is_allowed_nothing_is_outside_unless_the_boundary_is_closed() -> None:
    assert scope_of(Boundary(), [Touched("a")]) == ScopeReport()
    assert scope_of(Boundary(is_closed=True), [Touched("a")]).touched_outside == ("a",)


def test_a_design_names_paths_in_its_code() -> None:
    text = (
        "The parser is `src/app/parse.py`, its settings `config.toml`, all of `docs/` and `tests/**/*.py`.\n"
        "Not `total()`, `1.2`, `a/../b`, `/etc/passwd`, nor `https://example.org/x.html`; plain src/other.py neither.\n"
        "Nor what a command line with an address names: `curl https://example.org/x -o out/page.html`.\n"
        "```\nlib/core.go\n```\nand `go.mod`, where\n~~~sh\n`cat x/y.sh`\n~~~\nis `z/last.sh`.\n"
    )
    assert paths_named(text) == (
        "src/app/parse.py", "**/config.toml", "docs", "tests/**/*.py", "**/go.mod", "z/last.sh", "lib/core.go",
        "x/y.sh",
    )  # fmt: skip
