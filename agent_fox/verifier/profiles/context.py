"""What the platform tells the verifier before anything is asked of it. None of it ever comes from a model."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.values import dataclass
from agent_fox.system.sandbox.bubblewrap import Mode, SandboxMode
from agent_fox.verifier.logs.registry import BUILT_IN, Parsers

if TYPE_CHECKING:
    from agent_fox.system.toml_tables import Toml
    from agent_fox.verifier.policy.values import Change
    from agent_fox.verifier.profiles import narrowing as narrow
    from agent_fox.verifier.profiles.model import Profile
else:
    narrow = late_module("agent_fox.verifier.profiles.narrowing")

DEFAULT_SECONDS = 3600.0
MOST_AT_ONCE = 2
MEMORY = 4 * 1024**3
PROCESSES = 512


@dataclass(frozen=True, slots=True)
class RunContext:
    """One attempt of one run, in one workspace.

    root: the workspace. artifacts: folder of all runs' artifacts, outside the workspace or excluded from its source.
    readable: folders beside the workspace that commands may read, such as one that a link in it leads to.
    advisories: folder of known vulnerabilities, a sub-folder for each scanner's; without it no scan passes.
    modules: those that may be asked for; empty allows every module that detection finds.
    seconds: time limit of all commands together. secrets: exact values that no log may hold.
    token: a scoped, short-lived token that only the step that fetches dependencies is given.
    base: the commit (full id) that the change under check began at; empty where nobody said.
    files_changed: paths that differ from `base`, for dispositions. change: the same with both sides, as it was read
    before anything ran; None: it is read when it is asked for.
    stated: the coder's own words about the change: reasons for tests that were changed.
    caches: where caches of build tools stay between verifications; None: as long as the verifier.
    parsers: readers of logs, those of plugins included.
    """

    run: str
    attempt: int
    root: Path
    artifacts: Path
    profile: Profile
    readable: tuple[Path, ...] = ()
    advisories: Path | None = None
    modules: tuple[str, ...] = ()
    sandbox: Mode = SandboxMode.AUTO
    seconds: float = DEFAULT_SECONDS
    at_once: int = MOST_AT_ONCE
    memory: int | None = MEMORY
    processes: int | None = PROCESSES
    allow_format_apply: bool = False
    secrets: tuple[str, ...] = ()
    token: str = field(default="", repr=False)
    base: str = ""
    files_changed: frozenset[str] = frozenset()
    change: Change | None = field(default=None, repr=False)
    stated: str = ""
    caches: Path | None = None
    parsers: Parsers = field(default=BUILT_IN, repr=False)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a running command is: seconds since its start, seconds it may take, bytes printed."""

    seconds: float
    limit: float
    bytes: int


Report = Callable[[Progress], None]


def no_report(progress: Progress) -> None:
    """Ignores progress."""


NARROWING = Path(".agent-fox") / "verifier.toml"
MOST_CHANGES = 10


class ProfileUnconfirmed(ValueError):
    """A repository changes the profile and that is not confirmed; or its file cannot be read."""


def confirmed_profile(built_in: Profile, root: Path, allowed: narrow.Allowed, accepted: str | None) -> Profile:
    """The profile to use. `accepted` is the fingerprint that a person has confirmed.

    Raises ProfileUnconfirmed, and Refused for a repository that asks for more than it is allowed.
    """
    policy = built_in.policy.model_copy(update={"allow_source_mutation": allowed.format_apply})
    own = narrow.narrowed(built_in.model_copy(update={"policy": policy}), {}, allowed)
    asked = narrow.narrowed(own, _asked_by(root), allowed)
    changes = narrow.difference(own, asked)
    if not changes or accepted == narrow.fingerprint(asked):
        return asked
    more = f"; and {len(changes) - MOST_CHANGES} more" if len(changes) > MOST_CHANGES else ""
    shown = "; ".join(changes[:MOST_CHANGES]) + more
    raise ProfileUnconfirmed(
        f"{NARROWING} changes the profile {own.id}: {shown}. "
        f"If that is right: --accept-profile {narrow.fingerprint(asked)}"
    )


def _asked_by(root: Path) -> Toml:
    file = root / NARROWING
    try:
        return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    except (OSError, ValueError, RecursionError) as error:
        raise ProfileUnconfirmed(f"{file}: this cannot be read as TOML: {error}") from error
