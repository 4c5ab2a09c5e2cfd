"""What the next attempt is told of where a requirement broke: a bounded prefix."""

from __future__ import annotations

from dataclasses import replace

from agent_fox.core.retry.onset import Onset
from agent_fox.core.retry.replay import MOST_EDIT, MOST_LINES, Finding, Replay, prefix

FOUND = Finding(
    "01-REQ-1.1", "tests/test_a.py::test_adds", Onset.FOUND, session=3, step=3, action="Edit src/a.py",
    files=("src/a.py",), before="b" * 40, after="a" * 40, runs=4, states=6,
)  # fmt: skip
EDIT = ("src/a.py", "-    return a + b", "+    return a - b")


def test_the_prefix_names_what_is_kept_the_edit_that_broke_it_and_the_files_before_it() -> None:
    replay = Replay(1, FOUND, ((1, "Write src/a.py"), (2, "Edit src/b.py")), EDIT, "refs/x", "c" * 40)
    assert prefix(replay) == (
        "Attempt 1, up to step 2: kept.",
        "- step 1: Write src/a.py",
        "- step 2: Edit src/b.py",
        "Do not repeat this: tests/test_a.py::test_adds began to fail at step 3: Edit src/a.py",
        "src/a.py",
        "-    return a + b",
        "+    return a - b",
        f"The files just before it: `git show {'c' * 12}`, kept as refs/x.",
    )


def test_evidence_that_was_seen_and_not_acted_on_is_said() -> None:
    seen = replace(FOUND, seen="call 9 showed `FAILED test_adds`")
    assert "evidence seen, not acted on: call 9 showed `FAILED test_adds`" in "\n".join(prefix(Replay(1, seen)))


def test_a_test_that_was_red_from_the_start_is_blamed_on_the_step_that_was_to_finish_it() -> None:
    red = Finding("R", "t", Onset.FROM_START, step=4, action="Edit tasks.md")
    lines = prefix(Replay(2, red))
    assert lines == (
        "Attempt 2 never made t pass.",
        "This was said to finish it, and did not: t failed from the start; step 4 left it so: Edit tasks.md",
    )


def test_where_the_workspace_starts_is_said_either_way() -> None:
    laid_out = prefix(Replay(1, FOUND, is_laid_out=True))[-1]
    assert laid_out == "Your workspace starts from these files: what came after them is not in it."
    assert prefix(Replay(1, FOUND, why_not="it conflicts in a.py"))[-1].endswith("them: it conflicts in a.py.")


def test_steps_that_could_not_be_run_leave_the_onset_unsure() -> None:
    unsure = {skipped: replace(FOUND, skipped=skipped).words for skipped in ((2,), (0, 1, 2))}
    test = "tests/test_a.py::test_adds"
    assert unsure == {
        (2,): f"{test} began to fail at step 3 (or by step 2, which could not be run): Edit src/a.py",
        (0, 1, 2): f"{test} began to fail at step 3 (or by step 0 to 2, which could not be run): Edit src/a.py",
    }


def test_where_no_step_is_known_it_is_said_why_and_what_was_done() -> None:
    none = Finding("R", "t", Onset.ELSEWHERE, "it passed after the session")
    assert none.words == "t: no step is known at which it began to fail, it passed after the session"
    assert prefix(Replay(1, none, ((1, "Write src/a.py"),))) == (
        "It passed after the session, which had done:",
        "- step 1: Write src/a.py",
    )


def test_an_edit_that_is_just_short_enough_is_told_whole() -> None:
    assert prefix(Replay(1, FOUND, edit=("line",) * MOST_EDIT))[-MOST_EDIT - 1 :] == (
        f"Do not repeat this: {FOUND.words}",
        *("line",) * MOST_EDIT,
    )


def test_it_never_has_more_lines_than_it_may_whatever_there_is_to_tell() -> None:
    kept = tuple((step, "x" * 500) for step in range(1, 300))
    others = (FOUND,) * 50
    lines = prefix(Replay(1, FOUND, kept, ("line",) * 500, "refs/x", "c" * 40, others, why_not="y" * 900))
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= 160
    assert lines[1] == "- 293 steps before these"
    assert "... and 491 lines more of this edit" in lines
