"""The order of a launch and its end: the values that pass between the engine and a session.

The engine fills a LaunchOrder from its settings; nothing here reads settings, decides, or runs anything.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_fox.core.ids import Archetype, Mode
from agent_fox.core.ledger.close_out import CloseOut, Contract, FindingWaiver, Verification
from agent_fox.core.values import dataclass
from agent_fox.session.agent import EVERY_BACKEND as EVERY_BACKEND  # backends of plugins import these from here
from agent_fox.session.agent import Agent as Agent
from agent_fox.session.agent import Provisions as Provisions

if TYPE_CHECKING:
    from agent_fox.core.trace import Trace
    from agent_fox.session.infrastructure import Infrastructure


@dataclass(frozen=True, slots=True)
class Unmerged:
    """A coder's earlier work that conflicted with the integration branch: its commit, and the files in conflict."""

    work: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes that a coder's work may add: with one file, and with all of them."""

    file: int = 50 * 1024**2
    change: int = 200 * 1024**2


LIVE = "tests"
"""The file beside a session's streams in which a verifier's test commands print while they run."""

NOTHING_WANTED = Contract(needs_feedback=False)


@dataclass(frozen=True, slots=True)
class Closing:
    """What a coder's close-out is held to, what a person signed for, and how its commands are run (seconds, bytes)."""

    contract: Contract = NOTHING_WANTED
    waivers: tuple[FindingWaiver, ...] = ()
    timeout: float = 600.0
    network: bool = False
    memory: int | None = None
    processes: int | None = None


@dataclass(frozen=True, slots=True)
class LaunchOrder:
    """One launch: one process for one ticket, at the commit `pinned`, with the folder `state` for itself.

    `repo` is the root of the person's repository, `log` where the redacted session log is kept, `spec_places` the
    folders and files of all specs (relative to `repo`), `message` the commit message of a coder's work, `document`
    what a backend without a model needs to know, `changes` what is done about a change that weakens tests (see
    `policy_gate`), `format_apply` whether work that only lacks format is formatted, in `sandbox`, with its log in
    `artifacts`, and `formats` the files in `repo` by whose formats of lines the verifier's tools read logs. With
    `unmerged`, the session's whole task is to finish the merge of that work; the work may not add more than
    `sizes`, `other_specs` says what is done about files that other specs' work made, `landed_text` what about keys
    and conflict markers in its text, and `closing` what a coder's work is held to when it ends. `resume` is a tree
    that is laid over the checkout: what an attempt that was cut off had done; `handoff` the text of a file that
    tells it. `keeps_brief`: the brief is kept beside the log, for people, and with `keeps_transcript` all that a
    coder said, called and was shown. `place` is the first of `[places]` that it fits in, else its archetype.
    `launch` is safe in file and ref names.
    """

    launch: str
    node_id: str
    node_uid: str
    spec_name: str
    archetype: Archetype
    mode: Mode | None
    group: int
    run: str
    attempt: int
    reading: int
    pinned: str
    repo: Path
    state: Path
    log: Path
    agent: Agent
    workspace: Provisions = field(default_factory=Provisions)
    brief_markdown: str = ""
    brief_json: Mapping[str, Any] = field(default_factory=dict)
    keeps_brief: bool = False
    keeps_transcript: bool = False
    spec_places: tuple[str, ...] = ()
    message: str = ""
    document: Mapping[str, Any] = field(default_factory=dict)
    changes: str = "refuse"
    format_apply: bool = False
    sandbox: str = "auto"
    artifacts: str = ""
    formats: tuple[str, ...] = ()
    unmerged: Unmerged | None = None
    sizes: Sizes = Sizes()
    left_usd: float | None = None
    assumed_usd: float = 0.0
    other_specs: str = "note"
    landed_text: str = "refuse"
    closing: Closing = Closing()
    resume: str = ""
    handoff: str = ""
    place: str = ""

    @property
    def writes(self) -> bool:
        """Whether what this session leaves in its workspace is wanted."""
        return self.archetype is Archetype.CODER


def handoff_in(state: Path) -> Path:
    """The file of a handoff in a launch's folder."""
    return state / "cut-off.md"


def brief_beside(log: Path) -> Path:
    """Where the brief of a session is kept whose log is kept there."""
    return log.with_suffix(".brief.md")


@dataclass(frozen=True, slots=True)
class Paths:
    """Where the parts of a launch stand. All but the workspace are outside of what git sees of it."""

    state: Path

    @property
    def workspace(self) -> Path:
        return self.state / "workspace"

    @property
    def session(self) -> Path:
        """The shim's folder of the session itself."""
        return self.state / "session"

    @property
    def live(self) -> Path:
        """What the test commands of a verifier print, while they run."""
        return self.session / LIVE

    @property
    def brief(self) -> Path:
        return self.state / "brief.md"

    @property
    def brief_json(self) -> Path:
        return self.state / "brief.json"

    @property
    def handoff(self) -> Path:
        """What an attempt that was cut off had done, beside the brief."""
        return handoff_in(self.state)

    @property
    def result(self) -> Path:
        return self.state / "result.json"

    @property
    def temporary(self) -> Path:
        """TMPDIR of everything that runs in this launch."""
        return self.state / "tmp"

    @property
    def document(self) -> Path:
        """What a built-in backend's own program reads."""
        return self.state / "document.json"

    @property
    def preparation(self) -> Path:
        """What setup, copy and link did to the workspace, for the harvest."""
        return self.state / "preparation.json"

    @property
    def agent(self) -> Path:
        """An agent's own folder, with its home; its sandbox lets it write there and in the workspace."""
        return self.state / "agent"

    @property
    def report(self) -> Path:
        """What the runner of an agent's program says of the session; see `session.agents.report`."""
        return self.state / "report.json"

    @property
    def events(self) -> Path:
        """What the runner of an agent's program recorded of its tools; see `session.agents.trace`."""
        return self.state / "events.jsonl"

    @property
    def transcript(self) -> Path:
        """All that was said, called and shown in the session, where that is kept; see `session.agents.trace`."""
        return self.state / "transcript.jsonl"

    @property
    def steps(self) -> Path:
        """The git folder with the states that the files had during the session; see `workspaces.steps`."""
        return self.state / "steps"

    @property
    def shim(self) -> Path:
        """Pid and start time of the shim, so that its leftovers can be ended after a crash."""
        return self.state / "shim.json"


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a session that was cut off: a commit on the pinned one (empty: none), and what is not."""

    commit: str = ""
    left_out: tuple[str, ...] = ()


class EndKind(StrEnum):
    """How a session ended."""

    ENDED = "ended"
    FAILED = "failed"
    TIMED_OUT = "timed out"
    SOURCE_CHANGED = "source changed"
    TOO_LOUD = "too loud"
    TOO_LONG = "context too long"
    REFUSED = "refused"
    INFRASTRUCTURE = "infrastructure"
    INTERRUPTED = "interrupted"
    CEILING = "ceiling of the run"


@dataclass(frozen=True, slots=True)
class Work:
    """A coder's work as a commit in the main repository whose only parent is the pinned commit; no branch
    moved.

    Where nothing was changed, `commit` is the pinned commit itself. `tree` is the tree's id. `notes` say what was left
    out of it, and what in it a person should know of.
    """

    commit: str
    tree: str
    is_unchanged: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClosedOut:
    """A coder's close-out: what it was judged by and what it came to, about the files of `tree`. Text is redacted."""

    given: CloseOut
    verification: Verification
    tree: str
    commit: str


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """What came of a session. Text is redacted; `output` is what a verifier or reviewer printed on standard
    output.

    `cost_usd` and the token counts are None where unknown. `infrastructure` is set with
    EndKind.INFRASTRUCTURE only, `work` with a coder's EndKind.ENDED only. `notes` say what was odd without
    changing the end; `agents` tell who worked: backend and model, and what the runner of an agent's program reports.
    `closed` is how a coder's work was judged, also where that refused it; `kept` what is kept of work that was cut off;
    `trace` what a coder did, step by step, as far as that was recorded.
    """

    kind: EndKind
    reason: str
    log: Path
    exit_status: int | None = None
    output: str = ""
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    summary: str = ""
    work: Work | None = None
    seconds: float = 0.0
    infrastructure: Infrastructure | None = None
    notes: tuple[str, ...] = ()
    agents: tuple[Mapping[str, object], ...] = ()
    retry_after: float | None = None
    closed: ClosedOut | None = None
    kept: Kept | None = None
    trace: Trace | None = None


class StopSignal:
    """Tells running sessions to stop, from any thread or a signal handler; set once, never unset."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._is_set = False
        self._is_left = False

    def is_set(self) -> bool:
        return self._is_set

    def is_left(self) -> bool:
        """Whether nobody will hear what still runs: what goes on without us is not ended, and is asked for later."""
        return self._is_left

    def leave(self) -> None:
        """Stop all sessions that would end with us; the others are left alone."""
        self._is_left = True
        self.set()

    def set(self) -> None:
        """Stop all sessions that listen, and every later one as soon as it does."""
        with self._lock:
            self._is_set = True
            for callback in tuple(self._callbacks.values()):
                callback()

    @contextmanager
    def calling(self, callback: Callable[[], None]) -> Iterator[None]:
        """Within the block, `set` calls `callback`; at once where it is set already. It must not block or
        raise.
        """
        with self._lock:
            self._callbacks[id(callback)] = callback
            if self._is_set:
                callback()
        try:
            yield
        finally:
            with self._lock:
                del self._callbacks[id(callback)]
