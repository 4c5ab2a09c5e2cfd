"""What a person decides about a verifier before it may be asked anything: options, their variables, and the result."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from pydantic import BaseModel, ConfigDict

from agent_fox.cli.errors import UserError
from agent_fox.cli.place import here
from agent_fox.core.late import late_module
from agent_fox.system.sandbox.bubblewrap import SandboxMode, container_in, mode_of
from agent_fox.system.state_folders import artifacts_in, default_state, folder_of
from agent_fox.verifier.profiles.context import (
    DEFAULT_SECONDS,
    NARROWING,
    ProfileUnconfirmed,
    RunContext,
    confirmed_profile,
)
from agent_fox.verifier.profiles.model import NetworkProfile, Profile

if TYPE_CHECKING:
    from agent_fox.system import git
    from agent_fox.system.redaction import masking as redact
    from agent_fox.verifier.ground import request as requests
    from agent_fox.verifier.profiles import loading, narrowing
    from agent_fox.verifier.projects import detect as detecting
else:
    redact = late_module("agent_fox.system.redaction.masking")
    detecting = late_module("agent_fox.verifier.projects.detect")
    loading = late_module("agent_fox.verifier.profiles.loading")
    narrowing = late_module("agent_fox.verifier.profiles.narrowing")
    requests = late_module("agent_fox.verifier.ground.request")
    git = late_module("agent_fox.system.git")

PREFIX = "AGENT_FOX_VERIFIER_"
RESOLVE_TOKEN = "AGENT_FOX_RESOLVE_TOKEN"
T = TypeVar("T")


class OneMode(click.Choice[str]):
    """A mode of the sandbox; sessions in a container are given that instead."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        with suppress(ValueError):
            if container_in(value) is not None:
                return value
        return super().convert(value, param, ctx)


_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


class VerifierOptions(BaseModel, defer_build=True):
    """The options as given. `root`, `artifacts` and `profile` unset: worked out from where the command was started."""

    model_config = ConfigDict(frozen=True)

    root: Path | None
    artifacts: Path | None
    profile: str | None
    run: str
    attempt: int
    modules: tuple[str, ...]
    sandbox: str
    max_seconds: float
    allow_format_apply: bool
    base: str
    network: str
    accepted: str | None
    advisories: Path | None
    formats: tuple[Path, ...]


_OPTIONS = (
    click.option(
        "--root", type=_FOLDER, envvar=f"{PREFIX}ROOT", help="The workspace. Unset: the root of this repository."
    ),
    click.option(
        "--artifacts",
        type=click.Path(file_okay=False, path_type=Path),
        envvar=f"{PREFIX}ARTIFACTS",
        help="Folder for logs and reports. Unset: one for this workspace below `$XDG_STATE_HOME/agent-fox`.",
    ),
    click.option("--profile", metavar="ID", envvar=f"{PREFIX}PROFILE", help="The profile. Unset: detected."),
    click.option("--run", default="local", show_default=True, envvar=f"{PREFIX}RUN", help="Name of the run."),
    click.option(
        "--attempt",
        default=1,
        show_default=True,
        type=click.IntRange(1),
        envvar=f"{PREFIX}ATTEMPT",
        help="Number of the attempt in the run.",
    ),
    click.option(
        "--module",
        "modules",
        multiple=True,
        envvar=f"{PREFIX}MODULES",
        help="A module that may be asked for; repeatable. Unset: all that are found.",
    ),
    click.option(
        "--sandbox",
        type=OneMode([mode.value for mode in SandboxMode]),
        default=SandboxMode.AUTO.value,
        show_default=True,
        envvar=f"{PREFIX}SANDBOX",
        help="`auto`: use it where there is one; `require`: run nothing without it; `off`: never use it.",
    ),
    click.option(
        "--max-seconds",
        type=click.FloatRange(1),
        default=DEFAULT_SECONDS,
        show_default=True,
        envvar=f"{PREFIX}MAX_SECONDS",
        help="Time limit for all commands together, in seconds.",
    ),
    click.option(
        "--allow-format-apply",
        is_flag=True,
        envvar=f"{PREFIX}ALLOW_FORMAT_APPLY",
        help="Let the formatter change source files.",
    ),
    click.option(
        "--network",
        type=click.Choice([network.value for network in NetworkProfile]),
        default=NetworkProfile.NONE.value,
        show_default=True,
        envvar=f"{PREFIX}NETWORK",
        help="`package-readonly` lets a separate step fetch dependencies; commands never have a network.",
    ),
    click.option(
        "--accept-profile",
        "accepted",
        metavar="FINGERPRINT",
        envvar=f"{PREFIX}ACCEPT_PROFILE",
        help=f"Accept a profile that {NARROWING.as_posix()} changes, by the fingerprint it was refused with.",
    ),
    click.option(
        "--advisories",
        type=_FOLDER,
        envvar=f"{PREFIX}ADVISORIES",
        help="Folder of known vulnerabilities for offline scanners. Unset: no scan can pass.",
    ),
    click.option(
        "--format",
        "formats",
        multiple=True,
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        envvar=f"{PREFIX}FORMATS",
        help="A format of lines of your own (docs/contributing.md), read once at the start; repeatable.",
    ),
    click.option(
        "--base",
        default="",
        metavar="COMMIT",
        envvar=f"{PREFIX}BASE",
        help="The commit that the change under check starts from.",
    ),
)


def verifier_options(command: Callable[..., T]) -> Callable[..., T]:
    """Add the options to a command, which gets them together as `options`."""

    @wraps(command)
    def with_options(**given: object) -> T:
        chosen = VerifierOptions.model_validate({name: given.pop(name) for name in VerifierOptions.model_fields})
        return command(options=chosen, **given)

    for option in reversed(_OPTIONS):
        option(with_options)
    return with_options


def context_of(options: VerifierOptions) -> RunContext:
    """What they decide about every run. Raises UserError."""
    root = (options.root or here()).resolve()
    artifacts = options.artifacts or artifacts_in(folder_of(default_state(os.environ), root))
    artifacts.mkdir(parents=True, exist_ok=True)
    return RunContext(
        run=options.run,
        attempt=options.attempt,
        root=root,
        artifacts=artifacts.resolve(),
        profile=_profile(options, root),
        modules=options.modules,
        sandbox=mode_of(options.sandbox),
        seconds=options.max_seconds,
        allow_format_apply=options.allow_format_apply,
        advisories=options.advisories,
        secrets=redact.secret_values(os.environ),
        token=os.environ.pop(RESOLVE_TOKEN, ""),
        base=_commit(root, options.base),
    )


def _commit(root: Path, name: str) -> str:
    """The full id of the base commit; nothing of the workspace's own git settings is run. Raises UserError."""
    commit = git.commit_of(root, name) if name else ""
    if commit is None:
        raise UserError(f"--base {name}: no such commit in {root}")
    return commit


def _profile(options: VerifierOptions, root: Path) -> Profile:
    """The built-in profile as far as the person allows it, and the repository does not ask for less."""
    allowed = narrowing.Allowed(NetworkProfile(options.network), options.allow_format_apply)
    try:
        built_in = loading.load_profile(options.profile or _recommended(root))
        return confirmed_profile(built_in, root, allowed, options.accepted)
    except (loading.UnknownProfile, requests.Refused, ProfileUnconfirmed) as refused:
        raise UserError(str(refused)) from refused


def _recommended(root: Path) -> str:
    profiles = detecting.detect(root).recommended
    if profiles is None:
        raise UserError(f"{root}: no build system was found; name a profile by --profile")
    return profiles.profile
