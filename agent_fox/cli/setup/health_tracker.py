"""Can issues go where these settings say? One line of `doctor`, from what is here: nobody is asked over a network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.cli.issues.doctor import in_folder
from agent_fox.cli.issues.tracker_place import kinds
from agent_fox.cli.setup.health import Check, State
from agent_fox.core.words import did_you_mean
from agent_fox.engine.planning.extensions import TRACKERS
from agent_fox.system.state_folders import ISSUES

if TYPE_CHECKING:
    import pluggy

    from agent_fox.config import Settings

NAME = "tracker"
MORE = "`agent-fox issues doctor` looks at everything"


def tracker_check(root: Path, settings: Settings, plugins: pluggy.PluginManager, environ: Mapping[str, str]) -> Check:
    """Where issues cannot go is a warning: a run goes on, and what it files waits. No such tracker stops a run."""
    kind, known = settings.tracker.kind, kinds(plugins)
    match kind:
        case "github":
            return _on_github(root, settings, environ)
        case "local":
            bad = next((line for line in in_folder(root / ISSUES) if line.state != "ok"), None)
            if bad is None:
                return Check(NAME, State.OK, f"local, {ISSUES}")
            return Check(NAME, State.WARNING, bad.told, bad.remedy)
        case _ if kind in known:
            return Check(NAME, State.OK, kind if kind in TRACKERS else f"{kind}, made by a plugin")
        case _:
            what = f"{kind}: no such tracker{did_you_mean(kind, known)}"
            return Check(NAME, State.MISSING, what, f"set [tracker] kind to one of {', '.join(known)}")


def github_checks(root: Path, settings: Settings) -> Iterator[Check]:
    """What `[github]` asks for and cannot have as the settings stand; GitHub itself is not asked. Nothing is said where
    all of it is off."""
    github, kind = settings.github, settings.tracker.kind
    if github == type(github)():
        return
    if kind != "github":
        remedy = 'set [tracker] kind = "github", or take the table out'
        yield Check("github", State.WARNING, f"[github] counts for nothing: [tracker] kind is {kind!r}", remedy)
        return
    if (github.pull_request or github.checks) and settings.git.push is None:
        branch = settings.git.integration_branch
        remedy = f"set [git] push to a remote's name, or push {branch} yourself after each run"
        yield Check("github", State.WARNING, f"nothing pushes {branch}, which [github] speaks of", remedy)
        return
    yield Check("github", State.OK, f"[github]: {', '.join(sorted(github.model_fields_set))}; {MORE}")


def _on_github(root: Path, settings: Settings, environ: Mapping[str, str]) -> Check:
    from agent_fox.trackers.github.credentials import credential  # noqa: PLC0415 - PyGithub takes long to import
    from agent_fox.trackers.github.repository import address_of  # noqa: PLC0415 - with it
    from agent_fox.trackers.github.trouble import SetupTrouble  # noqa: PLC0415 - with it

    try:
        address = address_of(settings.tracker, root)
        source = credential(settings.tracker, address, root, environ).source
    except SetupTrouble as error:
        return Check(NAME, State.WARNING, f"github: {error.reason}", error.remedy)
    return Check(NAME, State.OK, f"github, {address.place}, token from {source}; {MORE}")
