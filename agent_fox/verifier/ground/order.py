"""What is to be checked: the order as a value, read from JSON at the door. Runs nothing."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from pathlib import PurePath
from typing import ClassVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from agent_fox.core.late import adapter
from agent_fox.core.retry.replay import State  # noqa: TC001 - pydantic reads it
from agent_fox.core.spec import (
    Spec,  # noqa: TC001 - pydantic reads it
    Trace,  # noqa: TC001 - pydantic reads it
)
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.expectations import (
    Agreed,
    Sealed,
)
from agent_fox.core.verdicts.hidden import Reveal
from agent_fox.core.verdicts.verdict import Word
from agent_fox.system.sandbox.bubblewrap import Mode, SandboxMode

DEFAULT_TIMEOUT = 600.0


class Untested(StrEnum):
    """What a requirement counts as that no test names (`[verify] untested`)."""

    FAIL = "fail"
    UNKNOWN = "unknown"

    @property
    def word(self) -> Word:
        return Word.FAIL if self is Untested.FAIL else Word.UNKNOWN


class Counterfactual(StrEnum):
    """What follows where a test that passes is not seen to fail (`[verify] counterfactual`)."""

    REQUIRE = "require"
    REPORT = "report"
    OFF = "off"


class OrderError(ValueError):
    """The order can't be read; the message says where and why."""


@dataclass(frozen=True, slots=True)
class CheckOrder:
    """What one verification runs and expects.

    expected: id -> text of everything that must be proven.
    workspace: the folder that the commands run in; the process's own by default.
    commands: the spec's Test Commands, label -> command line.
    configured: command lines of `[verify] commands`, which replace the spec's.
    reports: globs, relative to the workspace, of JUnit XML files that the commands write.
    test_specs: test spec entry (`TS-04-1`) -> ids it is about, beside those that `traceability` names.
    spec, others: the spec's name, and the names of other specs that have, or had, ids that it has; `shared` are these
    ids: a test that names one must say which spec it means.
    timeout: seconds for one command.
    environment: variables for the commands, beside PATH, LANG, HOME and TMPDIR.
    sandbox, network, memory (bytes), processes, readable (folders beside the workspace): what commands are kept within.
    base: the folder of a clean checkout of the base commit; empty for none. Commands run in it too, and leave files.
    repository, base_commit: where such a checkout can be made when it is needed, if `base` names none.
    brought: paths of the workspace that git does not hold, and which such a checkout is lent.
    flaky: ids of tests that are run again before they are believed either way; those on the list in `flaky_file` too,
    to which tests are added that reruns prove flaky (`commit` is where).
    stated: what the coders of the spec said in their summaries, in which a changed test is given its reason.
    counterfactual: what follows where a test that passes is not seen to fail when what it is about is broken.
    sealed: what follows where a committed test fails; agreed: what persons signed about such tests; spec_files: id to
    the file of the repository that its text stands in, whose history tells how old it is.
    is_reviewed: a final review is asked about changed expectations when the spec is verified.
    hidden: the folder of checks that no coder sees, empty for none; reveal: what a failing one tells.
    only: files of tests that alone count, if it names any.
    counts_not_shown: whether tests count that passed before the work too, where nothing can be broken to see them fail.
    proofs_folder: where results of trials are kept, so that the same contents are not tried again; empty for nowhere.
    caches_folder: where is kept what build tools compiled of the base commit; empty for nowhere.
    trail: the states that the files had during the coders' sessions since the last reading, oldest first, as trees of
    the repository: where a test that fails began to is searched there.
    live: the file that what test commands print is added to while they run, empty for none.
    artifacts: the folder where full logs are kept, empty for none; `run` and `attempt` name them there.
    """

    expected: dict[str, str]
    workspace: str = "."
    commands: dict[str, str] = field(default_factory=dict)
    configured: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    traceability: tuple[Trace, ...] = ()
    test_specs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    untested: Untested = Untested.FAIL
    timeout: float = DEFAULT_TIMEOUT
    environment: dict[str, str] = field(default_factory=dict)
    sandbox: Mode = SandboxMode.OFF
    network: bool = False
    memory: int | None = None
    processes: int | None = None
    readable: tuple[str, ...] = ()
    base: str = ""
    repository: str = ""
    base_commit: str = ""
    brought: tuple[str, ...] = ()
    flaky_file: str = ""
    flaky: tuple[str, ...] = ()
    artifacts: str = ""
    live: str = ""
    run: str = "checks"
    commit: str = ""
    attempt: int = 1
    spec: str = ""
    others: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    counterfactual: Counterfactual = Counterfactual.OFF
    stated: str = ""
    sealed: Sealed = Sealed.REVIEW
    agreed: tuple[Agreed, ...] = ()
    spec_files: dict[str, str] = field(default_factory=dict)
    is_reviewed: bool = False
    hidden: str = ""
    reveal: Reveal = Reveal.CRITERION
    only: tuple[str, ...] = ()
    counts_not_shown: bool = True
    proofs_folder: str = ""
    caches_folder: str = ""
    trail: tuple[State, ...] = ()

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    def __post_init__(self) -> None:
        outside = [glob for glob in self.reports if not _is_inside(glob)]
        if outside:
            raise ValueError(f"reports: {outside[0]!r} is not a path or glob inside the workspace")
        if not self.timeout > 0:
            raise ValueError(f"timeout: {self.timeout} is not a number of seconds")


def _is_inside(glob: str) -> bool:
    path = PurePath(glob)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


_ORDER = adapter(lambda: TypeAdapter(CheckOrder))


def order_of(spec: Spec) -> CheckOrder:
    """What a spec asks to be checked, with every setting at its default."""
    return CheckOrder(
        {part.id: part.text for part in spec.parts},
        commands=dict(spec.test_commands),
        traceability=spec.traceability,
        spec=spec.name,
    )


def read_order(text: str | bytes) -> CheckOrder:
    """Read an order from JSON. Raises OrderError naming the first field that is wrong."""
    try:
        return _ORDER.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the document"
        raise OrderError(f"{place}: {first['msg']}") from error


def write_order(order: CheckOrder) -> bytes:
    """The order as JSON, as `read_order` reads it."""
    return _ORDER.dump_json(order, indent=2)
