"""What a commit is said to be worth, a spec at a time: check runs with annotations, or commit statuses without.

Only GitHub Apps, GitHub Actions among them, may write check runs. Where that is refused, statuses are written, which
is noted for the effect; the next run tries again. A check run is never changed: one that says something else is newer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, TypeAdapter

from agent_fox.core.ids import digest_of
from agent_fox.core.late import adapter
from agent_fox.core.markdown import one_line
from agent_fox.core.values import dataclass
from agent_fox.trackers.github.door import DoorTrouble
from agent_fox.trackers.github.trouble import SYNC
from agent_fox.trackers.protocol import Delivery, Done, Effect, EffectKind, Held

if TYPE_CHECKING:
    from agent_fox.trackers.github.answers import Answer
    from agent_fox.trackers.github.scribe import Scribe
    from agent_fox.trackers.github.search import Waits
    from agent_fox.trackers.text.pages import Written

TARGET = "checks"
MOST_ANNOTATIONS = 50
LONGEST_NAME, LONGEST_DESCRIPTION = 100, 140
REFUSALS = (403, 404)
LACKS = (
    "give the App `Checks: read and write` (in GitHub Actions `permissions: checks: write`) or the token `Commit "
    "statuses: read and write`, or set `[github] checks = false`"
)
AS_STATUSES = "as commit statuses: only a GitHub App with `Checks: read and write` may write check runs"


class Remark(BaseModel, defer_build=True):
    """One line about a line of a file."""

    model_config = ConfigDict(frozen=True)

    path: str
    line: int
    text: str


class Check(BaseModel, defer_build=True):
    """What is said of one spec. `is_open`: it is not decided yet. Of `remarks` the first MOST_ANNOTATIONS are shown."""

    model_config = ConfigDict(frozen=True)

    name: str
    conclusion: Literal["success", "failure", "action_required"]
    title: str
    summary: str
    is_open: bool = False
    remarks: tuple[Remark, ...] = ()


CHECKS = adapter(lambda: TypeAdapter(tuple[Check, ...]))
"""The body of an effect that is about checks."""


class _Run(BaseModel, defer_build=True):
    model_config = ConfigDict(frozen=True)
    id: int
    external_id: str | None = None


class _Runs(BaseModel, defer_build=True):
    model_config = ConfigDict(frozen=True)
    check_runs: list[_Run]


class _Status(BaseModel, defer_build=True):
    model_config = ConfigDict(frozen=True)
    id: int
    context: str
    state: str
    description: str | None = None


_STATUSES = adapter(lambda: TypeAdapter(list[_Status]))


@dataclass(frozen=True)
class Checks:
    """Writes them through a scribe, each once. `write` masks a text and makes it neutral."""

    scribe: Scribe
    write: Callable[[Effect], Written]

    def deliver(self, effect: Effect) -> Delivery:
        """Raises DoorTrouble, LeaseLost and TooSoon, at any step: all may be done again."""
        sha = effect.target.partition(":")[2]
        for check in map(self.safe, CHECKS.validate_json(effect.body)):
            delivery = self.deliver_one(effect, sha, check)
            if delivery is not None:
                return delivery
        url = self.scribe.door.commit_url(sha)
        return Done("", url, note=AS_STATUSES if self._is_refused(effect) else "")

    def safe(self, check: Check) -> Check:
        """The same with every text as it may be shown."""
        summary = self._written("", check.summary).body
        remarks = tuple(remark.model_copy(update={"text": self._line(remark.text)}) for remark in check.remarks)
        name, title = one_line(self._line(check.name), LONGEST_NAME), self._line(check.title)
        return check.model_copy(update={"name": name, "title": title, "summary": summary, "remarks": remarks})

    def deliver_one(self, effect: Effect, sha: str, check: Check) -> Delivery | None:
        """None where it stands. What is refused as a check run becomes a status."""
        if not self._is_refused(effect):
            try:
                return self.as_run(sha, check)
            except DoorTrouble as trouble:
                if not is_refusal(trouble):
                    raise _of_commit(trouble, sha) from None
                self.scribe.desk.remember(f"no check runs {effect.id}", trouble.delivery.reason)
        try:
            return self.as_status(sha, check)
        except DoorTrouble as trouble:
            if is_refusal(trouble):
                return Held(f"neither check runs nor commit statuses: {trouble.delivery.reason}", f"{LACKS}; {SYNC}")
            raise _of_commit(trouble, sha) from None

    def _is_refused(self, effect: Effect) -> bool:
        return bool(self.scribe.desk.recall(f"no check runs {effect.id}"))

    def as_run(self, sha: str, check: Check) -> Waits | None:
        """A check run, unless the newest of its name says the same."""
        shown = check.remarks[:MOST_ANNOTATIONS]
        digest = digest_of(check.model_dump_json(), digits=24)
        asked = {"check_name": check.name, "filter": "all", "per_page": "100"}
        door = self.scribe.door
        listed = door.fine(door.ask(f"/commits/{quote(sha, safe='')}/check-runs", asked))
        runs = door.value(lambda answer: _Runs.model_validate_json(answer.body), listed).check_runs
        newest = max(runs, key=lambda run: run.id, default=None)
        if newest is not None and newest.external_id == digest:
            return None
        annotations = [annotation(remark) for remark in shown]
        output = {"title": check.title, "summary": check.summary, "annotations": annotations}
        body: dict[str, object] = {"name": check.name, "head_sha": sha, "external_id": digest, "output": output}
        body |= {"status": "queued"} if check.is_open else {"status": "completed", "conclusion": check.conclusion}
        op = f"check {sha} {digest} after {newest.id if newest else 0}"
        return self._once(op, "/check-runs", body, lambda answer: _Run.model_validate_json(answer.body).id)

    def as_status(self, sha: str, check: Check) -> Waits | None:
        """A commit status, unless the newest of its name says the same."""
        door, description = self.scribe.door, one_line(check.title, LONGEST_DESCRIPTION)
        state = "pending" if check.is_open else "success" if check.conclusion == "success" else "failure"
        listed = door.fine(door.ask(f"/commits/{quote(sha, safe='')}/statuses", {"per_page": "100"}))
        statuses: list[_Status] = door.value(lambda answer: _STATUSES.validate_json(answer.body), listed)
        ours = (status for status in statuses if status.context == check.name)
        newest = max(ours, key=lambda status: status.id, default=None)
        if newest is not None and (newest.state, newest.description) == (state, description):
            return None
        op = f"status {sha} {digest_of(check.name, state, description, digits=24)} after {newest.id if newest else 0}"
        body: dict[str, object] = {"state": state, "context": check.name, "description": description}
        rest = f"/statuses/{quote(sha, safe='')}"
        return self._once(op, rest, body, lambda answer: _Status.model_validate_json(answer.body).id)

    def _once(self, op: str, rest: str, body: dict[str, object], made: Callable[[Answer], int]) -> Waits | None:
        """Write it, unless it may be out already: then it is looked for until it is surely not there."""
        journal, door = self.scribe.journal, self.scribe.door
        if journal.stands(op) is not None:
            return None
        sent = journal.sent(op)
        waits = None if sent is None else self.scribe.search.still_in_doubt(op, sent)
        if waits is None:

            def write() -> int:
                return door.value(made, door.fine(door.write("POST", rest, body)), is_write=True)

            journal.once(op, 0, write, lambda id: id)
        return waits

    def _line(self, text: str) -> str:
        return self._written(text, "").title

    def _written(self, title: str, body: str) -> Written:
        return self.write(Effect("", EffectKind.COMMENT, "", title, body, target=TARGET))


def is_refusal(trouble: DoorTrouble) -> bool:
    """Whether a person must give a permission first; a limit, which has the same status, passes by itself."""
    return isinstance(trouble.delivery, Held) and trouble.status in REFUSALS


def annotation(remark: Remark) -> dict[str, object]:
    place = {"path": remark.path, "start_line": remark.line, "end_line": remark.line}
    return {**place, "annotation_level": "failure", "message": remark.text}


def _of_commit(trouble: DoorTrouble, sha: str) -> DoorTrouble:
    """A commit that GitHub does not have is nobody's fault but that it was not pushed."""
    if trouble.status != 422:
        return trouble
    remedy = f"push the integration branch (`[git] push` does so at the end of a run), {SYNC}"
    return DoorTrouble(Held(f"GitHub does not take checks of {sha[:12]}: {trouble.delivery.reason}", remedy), 422)
