"""Which waivers hold now: envelopes read, signatures checked, held against what stands. Every use begins from here.

How one is granted and ended is in `granting`; what it does to the plan, in `engine.waiving`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, assert_never

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_fox.core.ids import digest_of
from agent_fox.core.late import late_module
from agent_fox.core.ledger import close_out
from agent_fox.core.ledger.evidence import canonical
from agent_fox.core.ledger.waivers import (
    FORMAT,
    ID,
    LONGEST_REASON,
    NAMESPACE,
    PAYLOAD_TYPE,
    SHOWN_ID,
    TIME,
    AboutExpectation,
    AboutFinding,
    AboutHidden,
    AboutRequirement,
    AboutTraining,
    Circumstances,
    Ending,
    Statement,
    Subject,
    Waiver,
    ending,
    why_not,
)
from agent_fox.core.values import dataclass
from agent_fox.evidence import witness
from agent_fox.evidence.signing import dsse, keys, trust
from agent_fox.evidence.signing.keys import KeyTrouble, Signer
from agent_fox.evidence.witness import WitnessBroken
from agent_fox.store import waivers as stored
from agent_fox.store.ledger import ledger
from agent_fox.store.plan import load_parts
from agent_fox.system import git
from agent_fox.system.state_folders import default_state

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.config import Settings
    from agent_fox.core.verdicts import expectations
    from agent_fox.store.waivers import WaiverRow
else:
    expectations = late_module("agent_fox.core.verdicts.expectations")

ABSENT = "absent"
SPEC, FILE = "spec:", "file:"


class NotAWaiver(ValueError):
    """An envelope that holds no waiver. Its text says what is wrong with it."""


Text = Annotated[str, Field(min_length=1, max_length=400)]
Time = Annotated[str, Field(pattern=f"^{TIME.pattern}$")]


class _Form(BaseModel, defer_build=True):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Requirement(_Form):
    kind: Literal["requirement"]
    spec: Text
    requirement: Text
    version: Text


class _Finding(_Form):
    kind: Literal["finding"]
    task: Text
    check: Text
    detail_hash: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]


class _Expectation(_Form):
    kind: Literal["expectation"]
    spec: Text
    requirement: Text
    version: Text
    test: Annotated[str, Field(min_length=1, max_length=2000)]
    committed: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    changed: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Hidden(_Form):
    kind: Literal["hidden"]
    digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Training(_Form):
    kind: Literal["training"]
    act: Literal["allow", "deny", "lock"]
    selector: Text
    purpose: Annotated[str, Field(max_length=200)]
    license: Annotated[str, Field(max_length=200)]


class _Statement(_Form):
    format: Literal[1]
    id: Annotated[str, Field(pattern=f"^{ID.pattern}$")]
    repository: Text
    subject: Annotated[_Requirement | _Finding | _Expectation | _Hidden | _Training, Field(discriminator="kind")]
    dependencies: dict[str, str]
    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]
    granted_at: Time
    expires_at: Time
    signer: Text
    key: Text

    def value(self) -> Statement:
        return Statement(
            self.id, self.repository, _subject(self.subject), tuple(sorted(self.dependencies.items())), self.reason,
            self.granted_at, self.expires_at, self.signer, self.key,
        )  # fmt: skip


assert FORMAT == 1


def _subject(form: _Requirement | _Finding | _Expectation | _Hidden | _Training) -> Subject:
    match form:
        case _Requirement():
            return AboutRequirement(form.spec, form.requirement, form.version)
        case _Finding():
            return AboutFinding(form.task, form.check, form.detail_hash)
        case _Expectation():
            return AboutExpectation(form.spec, form.requirement, form.version, form.test, form.committed, form.changed)
        case _Hidden():
            return AboutHidden(form.digest)
        case _Training():
            return AboutTraining(form.act, form.selector, form.purpose, form.license)
        case _:
            assert_never(form)


def statement_of(envelope: dsse.Envelope) -> Statement:
    """What an envelope says, whoever signed it. Raises NotAWaiver."""
    if envelope.payload_type != PAYLOAD_TYPE:
        raise NotAWaiver(f"its envelope holds {envelope.payload_type}, no waiver")
    try:
        statement = _Statement.model_validate_json(envelope.payload).value()
    except ValidationError as error:
        first = error.errors()[0]
        raise NotAWaiver(f"its statement is damaged ({'.'.join(map(str, first['loc']))}: {first['msg']})") from error
    if payload_of(statement) != envelope.payload:
        raise NotAWaiver("its statement is not in its one canonical form")
    return statement


def payload_of(statement: Statement) -> bytes:
    """The bytes that are signed."""
    return canonical(statement.content()).encode()


def signed(envelope: str, signers: tuple[Signer, ...]) -> tuple[Statement | None, str]:
    """The statement in an envelope, if one of these signers, the one it names, signed it; else why not."""
    try:
        return _signed(envelope, signers)
    except KeyTrouble as error:
        return None, f"its signature cannot be checked: {error}"
    except ValueError as error:
        return None, str(error)


@lru_cache(maxsize=256)
def _signed(envelope: str, signers: tuple[Signer, ...]) -> tuple[Statement | None, str]:
    parsed = dsse.Envelope.from_json(envelope)
    statement = statement_of(parsed)
    for signer in dsse.verified_by(parsed, signers, NAMESPACE):
        if (signer.principal, signer.key.id) == (statement.signer, statement.key):
            return statement, ""
    return None, "nobody who is trusted to waive has signed it, or it was changed since"


@dataclass(frozen=True)
class Grounds:
    """What waivers are held against: the repository at `root`, and who is trusted. Looked up once for each use.

    `branch`: where files are read from; `workplaces`: folders that agents work in, which add no trust.
    """

    root: Path
    environ: Mapping[str, str]
    branch: str
    workplaces: tuple[Path, ...] = ()
    files: dict[str, str] = field(default_factory=dict)

    @cached_property
    def repository(self) -> str:
        """The repository's identity: the first commit of its work, which every clone has. Empty where there is none."""
        if not self.tip:
            return ""
        first = git.call(self.root, "rev-list", "--max-parents=0", "--first-parent", self.tip)
        return first.text.splitlines()[-1]

    @cached_property
    def tip(self) -> str:
        """The commit that files are read from: of the integration branch, or HEAD before there is one."""
        return git.commit_of(self.root, self.branch) or git.head(self.root) or ""

    @cached_property
    def signers(self) -> tuple[Signer, ...]:
        """Those who may waive. Raises KeyTrouble."""
        return tuple(signer for signer in trust.signers(self.environ, self.places) if NAMESPACE in signer.namespaces)

    @property
    def places(self) -> tuple[Path, ...]:
        return (self.root, *self.workplaces)

    def file(self, path: str) -> str:
        """The id of a file or folder at the tip; `absent` where it is not there."""
        if path not in self.files:
            blob = git.call(self.root, "rev-parse", "--verify", "--quiet", f"{self.tip}:{path}", allowed=(0, 1, 128))
            self.files[path] = blob.text if blob.status == 0 else ABSENT
        return self.files[path]

    def is_link(self, path: str) -> bool:
        """Whether what stands at the tip is a symbolic link."""
        return git.call(self.root, "ls-tree", self.tip, "--", path).text.startswith("120000")

    def earliest(self) -> str:
        """The time that was noted outside of the state file, empty where none was. Raises WitnessBroken."""
        note = witness.read(witness.path_of(self.environ, self.root))
        return note.at if note else ""

    def why_unusable(self, db: Database) -> str:
        """Why no waiver at all can be judged here, or empty."""
        try:
            if not self.signers:
                return f"nobody is trusted to waive: {keys.folder(self.environ) / keys.SIGNERS} names no such signer"
        except KeyTrouble as error:
            return str(error)
        if not self.repository:
            return "this repository has no first commit to know it by"
        other = witness.trouble(db, witness.path_of(self.environ, self.root))
        return f"the ledger cannot be believed: {other}" if other else ""


def grounds_of(root: Path, settings: Settings, environ: Mapping[str, str]) -> Grounds:
    """What the waivers of a repository are held against. Agents work in the repository and in its state folder."""
    state = Path(settings.workspace.state) if settings.workspace.state else default_state(environ)
    return Grounds(root, environ, settings.git.integration_branch, (root / state,))


FIRST = ("agent-fox keys new waiver", "agent-fox keys trust waiver --for waiver")
"""What must be done once before anybody can sign a waiver here."""


def first_commands(grounds: Grounds) -> tuple[str, ...]:
    """What must come before `agent-fox waive` and `agent-fox agree`: nothing where somebody is trusted to waive. A list
    of signers that can't be used has its own error, which those commands tell."""
    try:
        return () if grounds.signers else FIRST
    except KeyTrouble:
        return ()


def time_of(db: Database, at: str, grounds: Grounds) -> str:
    """The time that waivers are held against: a clock that was set back does not turn it back."""
    with suppress(WitnessBroken):  # then nothing counts anyway
        return max(at, ledger.tip_of(db).at, grounds.earliest())
    return max(at, ledger.tip_of(db).at)


def standing_now(db: Database, grounds: Grounds, at: str, statements: Iterable[Statement]) -> Circumstances:
    """What stands now, as far as these statements are about it."""
    statements = tuple(statements)
    names = {name for statement in statements for name, _ in statement.dependencies}
    return Circumstances(
        at=time_of(db, at, grounds),
        repository=grounds.repository,
        versions={f"{part.spec_name}/{part.id}": part.version for part in load_parts(db)},
        dependencies={name: dependency(db, grounds, name) for name in names},
        trouble=grounds.why_unusable(db),
    )


def dependency(db: Database, grounds: Grounds, name: str) -> str:
    """The present hash of what a waiver may depend on: `spec:NAME`, the texts of a spec, or `file:PATH`, at the tip."""
    if name.startswith(FILE):
        return grounds.file(name.removeprefix(FILE))
    parts = load_parts(db, name.removeprefix(SPEC)) if name.startswith(SPEC) else []
    lines = sorted(f"{part.id}={part.version}" for part in parts)
    return digest_of("\n".join(lines), digits=16) if lines else ABSENT


@dataclass(frozen=True, slots=True)
class Held:
    """A waiver that was held against what stands. `why_not` is empty where it counts.

    `ending`: what ends it for good now; None where it counts, was ended, or cannot be judged now.
    """

    waiver: Waiver
    why_not: str
    ending: Ending | None = None

    @property
    def statement(self) -> Statement:
        """What was signed; only to be asked of one that counts, or that at least was signed."""
        assert self.waiver.statement is not None
        return self.waiver.statement

    @property
    def short_id(self) -> str:
        return self.waiver.id[:SHOWN_ID]


def held(db: Database, grounds: Grounds, at: str, rows: Iterable[WaiverRow]) -> list[Held]:
    """These waivers, each with why it does not count, if so."""
    read = [as_waiver(db, grounds, row) for row in rows]
    if not read:
        return []
    now = standing_now(db, grounds, at, (reading.statement for reading in read if reading.statement))
    return [Held(reading, why_not(reading, now), ending(reading, now)) for reading in read]


def as_waiver(db: Database, grounds: Grounds, row: WaiverRow) -> Waiver:
    try:
        statement, flaw = signed(row.envelope, grounds.signers)
    except KeyTrouble as error:
        statement, flaw = None, str(error)
    over, is_ended = stored.over(db, row.id), stored.is_ended(db, row.id)
    return Waiver(row.id, row.columns, statement, flaw, over, is_ended, stored.is_recorded(db, row))


def in_force(db: Database, grounds: Grounds, at: str, spec_name: str | None = None) -> list[Held]:
    """The waivers of requirements that count now, of one spec or of all."""
    rows = stored.waivers_of(db, "requirement", spec_name)
    return [waiver for waiver in held(db, grounds, at, rows) if not waiver.why_not]


def waived_now(db: Database, grounds: Grounds, at: str, spec_name: str) -> frozenset[str]:
    """The requirements of a spec with a waiver that counts now."""
    return frozenset(state.waiver.columns.address for state in in_force(db, grounds, at, spec_name))


def agreements(db: Database, grounds: Grounds, at: str, spec_name: str) -> tuple[expectations.Agreed, ...]:
    """What persons agreed to in the tests of a spec, and counts now."""
    rows = stored.waivers_of(db, "finding", spec_name)
    counting = (state.statement for state in held(db, grounds, at, rows) if not state.why_not)
    return tuple(
        expectations.Agreed(state.subject.requirement, state.subject.committed, state.subject.changed, state.signer)
        for state in counting
        if isinstance(state.subject, AboutExpectation)
    )


def finding_waivers(db: Database, grounds: Grounds, at: str, task: str) -> dict[tuple[str, str], Statement]:
    """The waivers about findings of a task that count now, by check and hash of the detail."""
    rows = [row for row in stored.waivers_of(db, "finding") if is_about(row, task)]
    counting = (state.statement for state in held(db, grounds, at, rows) if not state.why_not)
    return {
        (state.subject.check, state.subject.detail_hash): state
        for state in counting
        if isinstance(state.subject, AboutFinding) and state.subject.is_of(task)
    }


def is_about(row: WaiverRow, task: str) -> bool:
    """Whether the row says so; what was signed is asked too, later."""
    return AboutFinding(row.columns.address, row.columns.check_name, row.columns.detail_hash).is_of(task)


def detail_hash(detail: str) -> str:
    """The hash that a finding is waived by."""
    return close_out.detail_hash(detail)
