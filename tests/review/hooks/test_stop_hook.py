"""The stop hook as a process: it lets a chat go when its tasks are verified, and is closed for what it cannot know."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from agent_fox.review.hooks import stop_hook
from agent_fox.review.hooks.state import Held
from agent_fox.review.hooks.stop_hook import CATCH_UP_SECONDS, MOST_INPUT
from agent_fox.review.tasks import Word
from tests.review.chats import (
    CLAUDE,
    CODEX,
    HOOK,
    ONE,
    SESSION,
    TWO,
    chat,
    claude_answer,
    claude_call,
    claude_says,
    codex_says,
    environment,
)

BOTH = pytest.mark.parametrize("lines", [CLAUDE, CODEX], ids=["claude", "codex"])


# --- what lets a chat go, and what holds it ---


@BOTH
def test_a_chat_whose_task_was_verified_may_stop(tmp_path: Path, lines: tuple[str, ...]) -> None:
    made = chat(tmp_path, lines)
    made.register(ONE, Word.REJECTED, Word.VERIFIED)
    done = made.stop()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@BOTH
def test_a_chat_whose_task_was_not_verified_is_told_what_to_call(tmp_path: Path, lines: tuple[str, ...]) -> None:
    made = chat(tmp_path, lines)
    made.register(ONE)
    done = made.stop()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"BLOCKED: 1 unverified task(s). Call todoCompleteAndVerify for: {ONE}",
        f"  {ONE}: not reviewed yet",
    ]


@pytest.mark.parametrize("word", [Word.REJECTED, Word.FAILED])
def test_a_task_is_where_its_last_event_left_it(tmp_path: Path, word: Word) -> None:
    made = chat(tmp_path)
    made.register(ONE, Word.VERIFIED, word)
    assert made.stop().returncode == 2


def test_every_task_of_the_chat_must_be_verified(tmp_path: Path) -> None:
    made = chat(tmp_path, (*CLAUDE[:2], claude_call(TWO, message="m2"), claude_answer(TWO), CLAUDE[2]))
    made.register(ONE, Word.VERIFIED)
    made.register(TWO, Word.REJECTED)
    done = made.stop()
    assert done.returncode == 2
    assert TWO in done.stderr
    assert ONE not in done.stderr


def test_a_task_that_the_chat_only_names_holds_it_too(tmp_path: Path) -> None:
    made = chat(tmp_path, (claude_says(f"I go on with {TWO}"), CLAUDE[2]))
    made.register(TWO)
    assert made.stop().returncode == 2


def test_a_named_id_that_nobody_gave_out_holds_nothing(tmp_path: Path) -> None:
    made = chat(tmp_path, (claude_says(f"such as {TWO}"), CLAUDE[2]))
    made.register(ONE, Word.VERIFIED)
    assert made.stop().returncode == 0


def test_a_chat_that_registered_nothing_may_stop_whatever_others_did(tmp_path: Path) -> None:
    made = chat(tmp_path, (CLAUDE[2],))
    assert made.stop().returncode == 0
    made.register(ONE, client="claude-code session=another-session-of-somebody")
    assert made.stop().returncode == 0


def test_a_cleared_task_lets_the_chat_go_and_is_named_to_the_person(tmp_path: Path) -> None:
    made = chat(tmp_path)
    made.register(ONE, Word.CLEARED)
    done = made.stop()
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"systemMessage": f"agent-fox: cleared by a person, not verified: {ONE}"}


def test_the_answer_is_a_document_for_who_asks_for_one(tmp_path: Path) -> None:
    made = chat(tmp_path)
    made.register(ONE, Word.VERIFIED)
    assert json.loads(made.stop("--json").stdout) == {"allowed": True, "verified": [ONE], "cleared": []}
    made.transcript.unlink()
    done = made.stop("--json")
    assert (done.returncode, json.loads(done.stdout)["allowed"]) == (2, False)


# --- a transcript that is behind the chat ---


def test_a_task_of_the_session_holds_it_although_the_transcript_has_no_word_of_it_yet(tmp_path: Path) -> None:
    made = chat(tmp_path, (CLAUDE[2],))
    made.register(ONE, client=f"claude-code 2.1.330 session={SESSION}")
    assert ONE in made.stop().stderr
    made.register(TWO, client="claude-code session=another-session-of-somebody")
    assert TWO not in made.stop().stderr


def test_an_answer_that_comes_late_is_waited_for(tmp_path: Path) -> None:
    made = chat(tmp_path, CLAUDE[:1])
    made.register(ONE)
    # nothing tells that the hook waits for the transcript: here and below it gets time to
    late = "import sys, time; time.sleep(0.5); open(sys.argv[1], 'a').write(sys.argv[2])"
    rest = "".join(f"{line}\n" for line in CLAUDE[1:])
    with subprocess.Popen([sys.executable, "-c", late, str(made.transcript), rest]):
        assert f"Call todoCompleteAndVerify for: {ONE}" in made.stop().stderr


def test_a_call_that_is_not_answered_holds_the_chat(tmp_path: Path) -> None:
    done = chat(tmp_path, CLAUDE[:1]).stop()
    assert done.returncode == 2
    assert "todoWrite was called, and its answer is not in the transcript yet" in done.stderr


def test_while_the_last_message_is_missing_open_tasks_of_nobody_known_hold_the_chat(tmp_path: Path) -> None:
    made = chat(tmp_path, (claude_says("An older message"),))
    made.register(ONE)
    assert ONE in made.stop().stderr
    made.write([claude_says("An older message"), CLAUDE[2]])
    assert made.stop().returncode == 0


# --- where the state is ---


def test_the_state_is_looked_for_upwards_and_first_where_the_client_says_that_the_project_is(tmp_path: Path) -> None:
    made = chat(tmp_path)
    made.register(ONE)
    below = made.project / "a" / "b"
    below.mkdir(parents=True)
    assert "not reviewed yet" in made.stop(cwd=str(below)).stderr
    (tmp_path / "elsewhere").mkdir()
    text = json.dumps(made.asked(cwd=str(tmp_path / "elsewhere"))).encode()
    around = environment(tmp_path, CLAUDE_PROJECT_DIR=str(made.project))
    done = subprocess.run(HOOK, cwd=tmp_path, env=around, input=text, capture_output=True, check=False)
    assert b"not reviewed yet" in done.stderr


def test_a_state_that_was_named_is_the_only_one(tmp_path: Path) -> None:
    made = chat(tmp_path)
    made.register(ONE, Word.VERIFIED)
    (tmp_path / "other state? 100%#").mkdir()
    assert made.stop("--state", str(made.own)).returncode == 0
    assert made.stop("--state", str(tmp_path / "other state? 100%#")).returncode == 2


def test_a_state_below_a_folder_with_an_odd_name_is_read(tmp_path: Path) -> None:
    (tmp_path / "odd? 100%#").mkdir()
    made = chat(tmp_path / "odd? 100%#")
    made.register(ONE, Word.VERIFIED)
    assert made.stop().returncode == 0


def test_a_task_that_the_state_does_not_know_is_no_task_that_is_done(tmp_path: Path) -> None:
    made = chat(tmp_path)
    assert "there is no state file" in made.stop().stderr
    made.register(TWO, Word.VERIFIED)
    done = made.stop()
    assert done.returncode == 2
    assert f"does not know them: {ONE}" in done.stderr


def test_a_state_from_before_there_were_tasks_knows_none(tmp_path: Path) -> None:
    made = chat(tmp_path, (CLAUDE[2],))
    made.own.mkdir()
    with sqlite3.connect(made.own / "state.db") as db:
        db.execute("CREATE TABLE runs (id INTEGER)")
    assert made.stop().returncode == 0


# --- a row is nothing without its record ---

REGISTERED = f"(SELECT min(position) FROM ledger WHERE identity LIKE 'review:{ONE}:%')"
FORGERIES = {
    "an event without a record": [
        f"INSERT INTO review_events SELECT max(id) + 1, '2027', '{ONE}', 'verified', '{{}}' FROM review_events"
    ],
    "a changed event": ["UPDATE review_events SET kind = 'verified' WHERE kind = 'registered'"],
    "a changed content": ["UPDATE ledger SET content = replace(content, 'rejected', 'verified')", "LAST"],
    "a record that says so in its columns alone": ["UPDATE ledger SET status = 'verified'", "LAST"],
    "a changed data": ["""UPDATE review_events SET data = '{"trees": {"/x": "y"}}' WHERE kind = 'verified'"""],
    "a changed description": ["UPDATE review_tasks SET description = 'Nothing to do'"],
    "changed repositories": ["""UPDATE review_tasks SET repositories = '[{"path": "/nowhere"}]'"""],
    "a head of another chain": [
        "UPDATE ledger SET head = 'x' WHERE position = (SELECT max(position) FROM ledger WHERE kind = 'review')"
    ],
    "a record before it is gone": [f"DELETE FROM ledger WHERE position = {REGISTERED} - 1"],
    "the record of its registering is gone": [f"DELETE FROM ledger WHERE position = {REGISTERED}"],
}
"""What somebody with the state file open may do to it. LAST: turn the last event into `verified` as well."""

TURNED = "UPDATE review_events SET kind = 'verified' WHERE id = (SELECT max(id) FROM review_events)"


def without_triggers(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path)
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    return db


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_state_that_was_written_by_hand_does_not_let_the_chat_go(tmp_path: Path, forgery: str) -> None:
    made = chat(tmp_path)
    made.register(TWO, Word.VERIFIED)
    is_verified = forgery in list(FORGERIES)[4:]
    made.register(ONE, *([Word.VERIFIED] if is_verified else [Word.REJECTED] if "LAST" in FORGERIES[forgery] else []))
    db = without_triggers(made.own / "state.db")
    for statement in FORGERIES[forgery]:
        db.execute(TURNED if statement == "LAST" else statement)
    db.commit()
    db.close()
    done = made.stop()
    assert done.returncode == 2, forgery
    assert f"{ONE}: its row says verified, and the ledger does not" in done.stderr


# --- fails closed ---


@pytest.mark.parametrize(
    "given",
    [b"", b"stop", b"[]", b"null", b'{"transcript_path": "x"', b"\xff\xfe", b"[" * 100_000, b" " * (MOST_INPUT + 1)],
    ids=["nothing", "prose", "a list", "null", "cut", "not UTF-8", "too deep", "too long"],
)
def test_what_no_client_would_say_is_a_block(tmp_path: Path, given: bytes) -> None:
    done = chat(tmp_path).stop(given=given)
    assert (done.returncode, done.stderr.startswith("BLOCKED: ")) == (2, True)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("path", [None, "", 3, "transcript.gone", "."])
def test_without_a_transcript_the_chat_is_held(tmp_path: Path, path: object) -> None:
    done = chat(tmp_path).stop(transcript_path=path)
    assert (done.returncode, done.stderr.startswith("BLOCKED: ")) == (2, True)


def test_a_transcript_that_is_not_there_is_not_waited_for_as_one_that_is_behind(tmp_path: Path) -> None:
    begun = time.monotonic()
    done = chat(tmp_path).stop(transcript_path=str(tmp_path / "gone.jsonl"))
    assert "is not there, or empty" in done.stderr
    assert time.monotonic() - begun < CATCH_UP_SECONDS


def test_an_empty_transcript_is_none(tmp_path: Path) -> None:
    assert "is not there, or empty" in chat(tmp_path, ()).stop().stderr


def test_a_malformed_transcript_is_told_with_the_line_and_without_what_stands_there(tmp_path: Path) -> None:
    done = chat(tmp_path, (*CLAUDE, "token=hunter2", codex_says("x"))).stop()
    assert done.returncode == 2
    assert "line 4 is no JSON" in done.stderr
    assert "hunter2" not in done.stderr


def test_a_state_that_cannot_be_read_holds_every_chat_in_it(tmp_path: Path) -> None:
    made = chat(tmp_path, (CLAUDE[2],))
    made.register(ONE, Word.VERIFIED)
    whole = (made.own / "state.db").read_bytes()
    for broken in (b"no database" * 100, whole[: len(whole) // 2], bytes(len(whole))):
        (made.own / "state.db").write_bytes(broken)
        for left in ("state.db-wal", "state.db-shm"):
            (made.own / left).unlink(missing_ok=True)
        done = made.stop()
        assert (done.returncode, "cannot be read" in done.stderr) == (2, True), broken[:20]


@pytest.mark.parametrize("what", ["a folder", "a link that leads nowhere"])
def test_a_state_file_that_is_none_holds_the_chat(tmp_path: Path, what: str) -> None:
    made = chat(tmp_path, (CLAUDE[2],))
    made.own.mkdir()
    if what == "a folder":
        (made.own / "state.db").mkdir()
    else:
        (made.own / "state.db").symlink_to(tmp_path / "gone")
    assert "cannot be read" in made.stop().stderr


def test_a_state_that_another_program_holds_is_waited_for_and_then_a_block(tmp_path: Path) -> None:
    made = chat(tmp_path)
    made.register(ONE, Word.VERIFIED)
    db = sqlite3.connect(made.own / "state.db", isolation_level=None)
    db.execute("PRAGMA journal_mode = DELETE")
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("BEGIN EXCLUSIVE")
    done = made.stop()
    db.close()
    assert done.returncode == 2
    assert "locked" in done.stderr


def test_options_that_the_hook_does_not_have_are_a_block_and_no_usage_error(tmp_path: Path) -> None:
    made = chat(tmp_path)
    for options in (["--stat", "x"], ["--state"], ["--seconds", "0"], ["--seconds", "soon"], ["more"]):
        assert made.stop(*options).returncode == 2


def test_a_hook_whose_time_is_over_blocks_and_so_does_one_that_is_ended(tmp_path: Path) -> None:
    around = environment(tmp_path)
    for options, number in ((["--seconds", "1"], None), ([], signal.SIGTERM)):
        with subprocess.Popen(
            [*HOOK, *options], env=around, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            assert process.stderr is not None
            process.stdin.write(b"{")
            process.stdin.flush()
            if number is not None:
                wait_for_handlers(process.pid)
                process.send_signal(number)
            assert process.wait(60) == 2
            assert b"BLOCKED: the stop hook was ended by signal" in process.stderr.read()


def wait_for_handlers(process: int) -> None:
    """Until the process catches SIGTERM."""
    bit = 1 << (signal.SIGTERM - 1)
    while True:
        status = Path(f"/proc/{process}/status").read_text()
        caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
        if int(caught.split()[1], 16) & bit:
            return


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads what it may not")
def test_a_transcript_that_may_not_be_read_is_a_block(tmp_path: Path) -> None:
    made = chat(tmp_path)
    made.transcript.chmod(0)
    assert "cannot be read" in made.stop().stderr


def test_streams_that_nobody_reads_change_no_answer(tmp_path: Path) -> None:
    made = chat(tmp_path)
    made.register(ONE)
    script = 'exec "$@" 2>&- >&-'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *HOOK],
        env=environment(tmp_path), input=json.dumps(made.asked()).encode(), check=False,
    )  # fmt: skip
    assert done.returncode == 2


def test_the_hook_loads_the_standard_library_alone(tmp_path: Path) -> None:
    made = chat(tmp_path)
    made.register(ONE)
    code = (
        "import os, sys; sys.argv = ['agent-fox', 'hook', 'stop']; from agent_fox.cli import door; "
        "door.stop_hook([]); print(*sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env=environment(tmp_path), input=json.dumps(made.asked()), capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = set(done.stdout.split())
    assert {name for name in loaded if name.startswith("agent_fox")} == {
        "agent_fox", "agent_fox.cli", "agent_fox.cli.door", "agent_fox.review", "agent_fox.review.hooks",
        "agent_fox.review.hooks.state", "agent_fox.review.hooks.stop_hook", "agent_fox.review.hooks.transcripts",
    }  # fmt: skip
    assert {name.partition(".")[0] for name in loaded} <= {*sys.stdlib_module_names, "agent_fox", "__main__"}
    assert not loaded & {"pathlib", "typing", "dataclasses", "subprocess", "argparse"}


def test_a_transcript_of_200_megabytes_is_read_in_little_memory(tmp_path: Path) -> None:
    made = chat(tmp_path)
    made.register(ONE)
    filler = ('{"type":"user","text":"' + "x" * 1_000_000 + '"}\n').encode()
    with made.transcript.open("ab") as file:
        for _ in range(200):
            file.write(filler)
    code = (
        "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], capture_output=True); "
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *HOOK],
        env=environment(tmp_path), input=json.dumps(made.asked()), capture_output=True, text=True, check=True,
    )  # fmt: skip
    status, kilobytes = map(int, done.stdout.split())
    assert (status, kilobytes < 60_000) == (2, True), kilobytes


# --- files that changed since ---


def test_the_chats_own_task_must_be_verified_for_the_files_of_now_and_a_named_one_at_all(tmp_path: Path) -> None:
    made = chat(tmp_path, (claude_says(f"as in {ONE}"), CLAUDE[2]))
    made.register(ONE, Word.VERIFIED, gone=str(tmp_path / "gone"))
    assert made.stop().returncode == 0
    made.write(CLAUDE)
    held = made.stop()
    assert held.returncode == 2
    assert "cannot be checked" in held.stderr


def test_what_cannot_be_checked_again_is_not_verified(tmp_path: Path) -> None:
    with pytest.raises(Held, match="cannot be checked"):
        stop_hook.changed_since(str(tmp_path / "gone.db"), [ONE])


def test_a_task_that_is_rejected_while_the_hook_waits_is_not_verified(tmp_path: Path) -> None:
    made = chat(tmp_path, (*CLAUDE[:2], claude_call(TWO, message="m2")))
    made.register(ONE, Word.VERIFIED)
    code = (
        "import sys, time; time.sleep(0.6); from tests.review.chats import *; made = Chat(Path(sys.argv[1])); "
        "db = made.state(); db.conn.execute('BEGIN IMMEDIATE'); "
        "from agent_fox.store.reviews import task_row; record(db, AT, task_row(db, ONE), Event(Word.REJECTED)); "
        "db.conn.commit(); keep(db, TWO, Event(Word.VERIFIED)); db.close(); "
        "made.transcript.open('a').write(claude_answer(TWO) + '\\n' + CLAUDE[2] + '\\n')"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], env=environment(tmp_path), cwd=tmp_path):
        held = made.stop()
    assert held.returncode == 2
    assert f"Call todoCompleteAndVerify for: {ONE}" in held.stderr


ENDLESS = """
CREATE VIEW review_tasks AS WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
    SELECT 'a' AS id, 'd' AS description, '[]' AS repositories, '' AS client FROM n WHERE x < 0;
CREATE TABLE review_events (id, task_id, kind);
"""


@pytest.mark.parametrize("plant", ["a pipe", "a question without end"])
def test_a_state_that_keeps_sqlite_busy_for_ever_is_a_block_in_time(tmp_path: Path, plant: str) -> None:
    """A client lets a chat go whose hook it had to stop; while SQLite works, no signal is heard."""
    made = chat(tmp_path)
    path = made.project / ".agent-fox/state.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if plant == "a pipe":
        os.mkfifo(path)
    else:
        with closing(sqlite3.connect(path)) as db:
            db.executescript(ENDLESS)
    done = made.stop("--seconds", "1")
    assert done.returncode == 2
    assert "ended by signal" in done.stderr
