"""The shell around independent review: tasks registered, reviewed and cleared, each in one transaction of the state.

What is shown, asked and read from an answer is decided in `agent_fox.review`; how a client reaches it, in `mcp`.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ledger.evidence import Artifact
from agent_fox.core.values import Json, dataclass, to_document
from agent_fox.core.words import listed
from agent_fox.evidence import witness
from agent_fox.evidence.witness import WitnessBroken
from agent_fox.review import repositories
from agent_fox.review.answer import Nok, Ok, Unreadable, read_answer
from agent_fox.review.changes import Change, Limits, change_of, fingerprint_of
from agent_fox.review.clearing import is_right
from agent_fox.review.description import what_is_missing
from agent_fox.review.prompt import review_prompt
from agent_fox.review.repositories import NoRepository, Registered, read_registered
from agent_fox.review.reviewer import Printed, Reviewer, Silent, ask
from agent_fox.review.tasks import DIGITS, PREFIX, Event, Standing, Word, fingerprint, record, register, standing
from agent_fox.store.ledger.ledger import tip_of
from agent_fox.store.reviews import TaskRow, task_row, task_rows
from agent_fox.store.state import open_state, transaction
from agent_fox.system.clock import new_id, now
from agent_fox.system.git import GitError, head
from agent_fox.system.redaction.masking import redact, secret_values

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.config import ReviewSettings

MOST_CLEARED = 100
LOGGED = 20_000
AGAIN = "put that right, then call todoCompleteAndVerify again"


class ReviewRefused(Exception):
    """A call that is not carried out: a code for programs, and what is wrong with what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Passed:
    """The reviewer said OK, and the files are those that it was asked about."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Something is missing or wrong: what."""

    feedback: str


@dataclass(frozen=True, slots=True)
class NotReviewed:
    """Nobody judged the work: why, and what to do."""

    reason: str
    remedy: str


Reviewed = Passed | Failed | NotReviewed


@dataclass(frozen=True, slots=True)
class Cleared:
    """Which tasks were cleared, and which ids are no tasks."""

    cleared: tuple[str, ...]
    not_found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Desk:
    """Where review tasks of one project are handled.

    witness: where the head of the ledger is noted. home: outside of the workspace, for logs and the reviewer's room.
    session: the client's own name for its session, where the server was started with it. secrets_known: values masked
    wherever they stand.
    """

    state: Path
    witness: Path
    home: Path
    password: Path
    settings: ReviewSettings
    reviewer: Reviewer
    project: str | None
    here: Path
    session: str = ""
    secrets_known: tuple[str, ...] = field(default=(), repr=False)

    @property
    def limits(self) -> Limits:
        return Limits(self.settings.new_file_kib * 1024, self.settings.diff_kib * 1024)

    @property
    def asks_for_roots(self) -> bool:
        """Whether the client's roots count: only where no folders are configured."""
        return not self.settings.project_dirs

    def register(self, description: str, roots: Sequence[str], client: str) -> str:
        """Keep a task; its id. Raises ReviewRefused."""
        missing = what_is_missing(description)
        if missing:
            raise ReviewRefused("description_refused", missing)
        repositories = self._registered(roots)
        text = redact(description.encode("utf-8", "replace").decode().strip(), self.secrets_known)
        row = TaskRow(
            PREFIX + secrets.token_hex(DIGITS // 2),
            now(),
            text,
            json.dumps(to_document(repositories)),
            client[:200],
        )
        with self._opened() as db:
            self._begin_anew(db)
            with transaction(db):
                register(db, row.at, row, repositories)
            self._note(db)
        return row.id

    def _begin_anew(self, db: Database) -> None:
        """A state file that was made anew begins a ledger of its own: the note of the one before is kept beside it."""
        with suppress(WitnessBroken):
            if tip_of(db).position == 0 and witness.trouble(db, self.witness):
                witness.set_aside(self.witness)

    def _note(self, db: Database) -> None:
        """The head of the ledger is noted outside of the repository; what is wrong is said at the next review."""
        with suppress(WitnessBroken):
            witness.advance(db, self.witness)

    def _registered(self, roots: Sequence[str]) -> tuple[Registered, ...]:
        configured, single = self.settings.project_dirs, self.settings.project_dir
        try:
            chosen = repositories.choose(configured, roots, single, self.project, self.here)
            paths = repositories.repositories(chosen)
            return tuple(repositories.register(path, paths, self.limits.new_file) for path in paths)
        except (NoRepository, GitError) as error:
            raise ReviewRefused("no_repository", str(error)) from error

    def review(self, task_id: str, stop: threading.Event) -> Reviewed:
        """Show the change to the reviewer, and keep what came of it. Raises ReviewRefused for what is no task."""
        with self._opened() as db:
            task, stands = task_row(db, task_id), standing(db, task_id)
            rewritten = witness.trouble(db, self.witness)
        if task is None:
            raise ReviewRefused("unknown_task", f"{task_id}: {stands.reason}; todoWrite registers a task")
        if stands.word is Word.DAMAGED:
            return NotReviewed(
                stands.reason, "register the task again by todoWrite, and tell the person who owns the state"
            )
        if rewritten:
            return NotReviewed(f"the ledger cannot be believed: {rewritten}", "a person runs `agent-fox ledger verify`")
        outcome, event = self._judged(task, stop)
        with self._opened() as db:
            with transaction(db):
                record(db, now(), task, event)
            self._note(db)
        return outcome

    def _judged(self, task: TaskRow, stop: threading.Event) -> tuple[Reviewed, Event]:
        repos = read_registered(task.repositories)
        try:
            changes = tuple(change_of(repo, self.limits, self.secrets_known) for repo in repos)
        except (GitError, OSError) as error:
            return _not_reviewed(f"the change cannot be read whole: {error}", AGAIN)
        if not any(change.is_changed for change in changes):
            return _failed("nothing changed in any repository since the task was registered", {})
        too_large = [f"{change.path}: {change.too_large}" for change in changes if change.too_large]
        if sum(len(change.diff) for change in changes) > self.limits.diff:
            too_large.append(f"the diffs have more than {self.limits.diff:,} bytes together")
        if too_large:
            return _not_reviewed(
                f"the change is too large to be reviewed whole: {'; '.join(too_large)}",
                "split the task, put generated files into .gitignore, or raise `diff_kib` in review.toml",
            )
        unread = [f"{change.path}: {line}" for change in changes for line in change.unread]
        if unread:
            return _not_reviewed(
                f"files cannot be shown, and what is not shown cannot be OK: {listed(unread)}",
                "split new files that are too large, commit a rule in .gitignore for what is generated, or raise "
                "`new_file_kib` in review.toml; take zero bytes out of code",
            )
        return self._asked(task, repos, changes, stop)

    def _asked(
        self, task: TaskRow, repos: Sequence[Registered], changes: Sequence[Change], stop: threading.Event
    ) -> tuple[Reviewed, Event]:
        mark = secrets.token_hex(16)
        prompt = review_prompt(task.description, changes, mark)
        log = self.home / f"{task.id}-{new_id()}.json"
        facts = self._facts(changes, prompt)
        _write_log(log, {"task": task.id, "at": now(), **facts})  # what leaves is on record before it leaves
        answer = ask(self.reviewer, prompt, self.home, stop)
        text = redact(answer.text if isinstance(answer, Printed) else answer.why, self.secrets_known)
        _write_log(log, {"task": task.id, "at": now(), **facts, "said": text[:LOGGED]})
        outcome, event = self._read(
            answer, repos, changes, mark, f"{task.description}\n{''.join(c.diff for c in changes)}"
        )
        artifact = _artifact(changes)
        return outcome, Event(event.word, {**facts, **event.data}, " ".join(self.reviewer.argv), str(log), artifact)

    def _facts(self, changes: Sequence[Change], prompt: str) -> dict[str, Json]:
        """What the record of a review has, whatever comes of it."""
        trees: dict[str, Json] = {change.path: change.fingerprint for change in changes}
        sent: list[Json] = [
            {"repository": change.path, "path": file.path, "bytes": file.bytes, "sha256": file.sha256}
            for change in changes
            for file in change.sent
        ]
        return {
            "reviewer": list(self.reviewer.argv),
            "trees": trees,
            "fingerprint": fingerprint({change.path: change.fingerprint for change in changes}),
            "new_file": self.limits.new_file,
            "sent": sent,
            "prompt_bytes": len(prompt.encode("utf-8", "replace")),
            "prompt_sha256": hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest(),
        }

    def _read(
        self, answer: Printed | Silent, repos: Sequence[Registered], changes: Sequence[Change], mark: str, material: str
    ) -> tuple[Reviewed, Event]:
        if isinstance(answer, Silent):
            return _not_reviewed(answer.why, answer.remedy)
        match read_answer(answer.text, material, mark):
            case Nok(feedback):
                return _failed(redact(feedback, self.secrets_known), {})
            case Unreadable(why):
                remedy = 'the reviewer has to answer {"status": "OK"} or {"status": "NOK", "feedback": "..."} alone'
                return _not_reviewed(f"the reviewer's answer does not count: {why}", f"{remedy}; call again")
            case Ok():
                return self._confirmed(repos, changes)

    def _confirmed(self, repos: Sequence[Registered], changes: Sequence[Change]) -> tuple[Reviewed, Event]:
        """An OK counts where the files are still those that were shown."""
        try:
            now_there = {repo.path: fingerprint_of(repo, self.limits) for repo in repos}
        except (GitError, OSError) as error:
            return _not_reviewed(f"the files cannot be read again: {error}", AGAIN)
        if now_there != {change.path: change.fingerprint for change in changes}:
            return _not_reviewed("the files changed while the reviewer was reading", "let them rest, then call again")
        return Passed(), Event(Word.VERIFIED, {"feedback": ""})

    def clear(self, task_ids: Sequence[str], password: str) -> Cleared:
        """Clear tasks whose review cannot come to an end. Raises ReviewRefused, ClearingOff."""
        if len(task_ids) > MOST_CLEARED:
            raise ReviewRefused("too_many", f"at most {MOST_CLEARED} tasks are cleared at once")
        if not is_right(self.password, password):
            raise ReviewRefused("wrong_password", "this is not the password; ask the person who set it")
        with self._opened() as db:
            with transaction(db):
                known = {id: row for id in dict.fromkeys(task_ids) if (row := task_row(db, id)) is not None}
                for id, row in known.items():
                    if standing(db, id).word is not Word.CLEARED:
                        record(db, now(), row, Event(Word.CLEARED))
            self._note(db)
        return Cleared(tuple(known), tuple(id for id in dict.fromkeys(task_ids) if id not in known))

    @contextmanager
    def _opened(self) -> Iterator[Database]:
        db = open_state(self.state)
        try:
            yield db
        except sqlite3.IntegrityError as error:
            raise ReviewRefused("not_recorded", f"{self.state}: it could not be recorded ({error})") from error
        finally:
            db.close()


def all_standings(db: Database) -> list[tuple[TaskRow, Standing]]:
    """Every task of a state with where it stands, the oldest first."""
    return [(row, standing(db, row.id)) for row in task_rows(db)]


def known_secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Values of our own environment that must not be sent to anybody."""
    return secret_values(environ)


def _not_reviewed(reason: str, remedy: str) -> tuple[NotReviewed, Event]:
    return NotReviewed(reason, remedy), Event(Word.FAILED, {"reason": reason, "remedy": remedy})


def _failed(feedback: str, data: Mapping[str, Json]) -> tuple[Failed, Event]:
    return Failed(feedback), Event(Word.REJECTED, {**data, "feedback": feedback})


def _artifact(changes: Sequence[Change]) -> Artifact:
    """The files under review, where they are those of one repository."""
    if len(changes) != 1:
        return Artifact()
    return Artifact(changes[0].tree, head(Path(changes[0].path)) or "")


def _write_log(file: Path, document: Mapping[str, Json]) -> None:
    """For a person who wants to know what left this machine."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as opened:
        json.dump(dict(document), opened, indent=2, ensure_ascii=False)
        opened.write("\n")
