"""Is everything here that these settings need? The file, the branch, the specs, every agent."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.cli.setup.health import Check, State
from agent_fox.cli.setup.health_agents import agents_apart
from agent_fox.cli.setup.health_tracker import github_checks, tracker_check
from agent_fox.config import FILE, AgentSettings, ConfigError, Settings, load
from agent_fox.core.ids import Archetype
from agent_fox.core.ledger.gates import Gate
from agent_fox.core.spec import Severity
from agent_fox.core.words import counted
from agent_fox.engine.launching.agents import choice_trouble, role_trouble
from agent_fox.engine.planning.extensions import backends_of
from agent_fox.engine.planning.from_settings import RunStuck, state_folder
from agent_fox.engine.planning.plan_reading import read_plan
from agent_fox.engine.planning.plugged_dialects import dialects_of
from agent_fox.engine.planning.preflight import check_lock, lacks, missing_provisions, rival_of, rival_told
from agent_fox.plugins import PluginError, load_plugins
from agent_fox.specs.places import SpecsMissing
from agent_fox.system import git
from agent_fox.system.sandbox.bubblewrap import SandboxMode, in_words, why_missing
from agent_fox.system.state_folders import caches_in, folder_of

if TYPE_CHECKING:
    from agent_fox.session.backends import Backend
    from agent_fox.specs.dialects import Dialect


def configuration(root: Path, *, in_repository: bool) -> Iterator[Check]:
    """Whatever the settings name. A file that cannot be read is the only check then."""
    try:
        settings = load(root, os.environ)
    except ConfigError as error:
        yield Check("settings", State.MISSING, str(error), "correct it there")
        return
    yield _settings(root)
    if in_repository:
        yield _branch(root, settings.git.integration_branch)
    try:
        plugins = load_plugins()
        dialects, backends = dialects_of(plugins), backends_of(plugins)
    except PluginError as error:
        yield Check("plugins", State.MISSING, str(error), "see there")
        return
    if in_repository:
        yield _workspace(root, settings)
        yield from _caches(root, settings)
    yield _sandbox(SandboxMode(settings.verify.sandbox))
    yield _specs(root, settings, dialects)
    yield tracker_check(root, settings, plugins, os.environ)
    yield from github_checks(root, settings)
    yield from _agents(root, settings, backends)
    yield from agents_apart(root, settings)


def _sandbox(mode: SandboxMode) -> Check:
    """Commands of `checks` and of `verify` run the repository's own code: between it and the machine is this."""
    missing = why_missing()
    if mode is SandboxMode.OFF:
        return Check("sandbox", State.WARNING, "switched off by [verify] sandbox", 'set it to "auto"')
    if not missing:
        return Check("sandbox", State.OK, in_words(mode, network=False))
    state = State.MISSING if mode is SandboxMode.REQUIRE else State.WARNING
    return Check("sandbox", state, f"{missing}; commands run without one", "see there")


def _settings(root: Path) -> Check:
    if (root / FILE).exists():
        return Check("settings", State.OK, str(FILE))
    return Check("settings", State.WARNING, f"there is no {FILE}; the defaults apply", "run `agent-fox init`")


def _branch(root: Path, branch: str) -> Check:
    name, place, rival = "integration branch", git.checked_out_at(root, branch), rival_of(root, branch)
    if place is not None:
        what = f"{branch} is checked out at {place}"
        return Check(name, State.MISSING, what, f"run `git -C {place} switch` to another branch")
    if rival is not None:
        return Check(name, State.MISSING, rival_told(branch, rival), "see there")
    try:
        check_lock(root, branch)
    except RunStuck as error:
        return Check(name, State.MISSING, str(error), "see there")
    return Check(name, State.OK, branch)


def _workspace(root: Path, settings: Settings) -> Check:
    agents = [settings.agent_for(archetype, "") for archetype in used(settings)]
    missing = list(dict.fromkeys(missing_provisions(settings, agents, root)))
    if missing:
        return Check("workspace", State.MISSING, "; ".join(missing), f"see [workspace] in {FILE}")
    return Check("workspace", State.OK, settings.workspace.state or "its usual place")


def _caches(root: Path, settings: Settings) -> Iterator[Check]:
    """Caches of build tools that `verify` and runs keep for this repository, where there are some."""
    folder = caches_in(folder_of(state_folder(root, settings, os.environ), root))
    if folder.is_dir():
        size = sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
        yield Check("caches", State.OK, f"{folder} holds {size // 1024**2} MiB; it may be removed at any time")


def _specs(root: Path, settings: Settings, dialects: tuple[Dialect, ...]) -> Check:
    try:
        plan = read_plan(root, settings, dialects)
    except SpecsMissing as error:
        return Check("specs", State.MISSING, str(error), "write a spec")
    errors = sum(problem.severity is Severity.ERROR for problem in plan.problems)
    warnings = len(plan.problems) - errors
    counts = ((len(plan.specs), "spec"), (len(plan.nodes), "node"), (errors, "error"), (warnings, "warning"))
    what = ", ".join(counted(number, word) for number, word in counts)
    if errors:
        return Check("specs", State.MISSING, what, "see `agent-fox plan`")
    return Check("specs", State.OK, what)


def _agents(root: Path, settings: Settings, backends: Mapping[str, Backend]) -> Iterator[Check]:
    """Each archetype that the plan uses: for the whole plan, and for each spec that changes it."""
    for archetype in used(settings):
        for name, title in titles(settings, archetype):
            for rung in range(settings.rungs_of(archetype, name) + 1):
                shown = f"{title}.rungs[{rung - 1}]" if rung else title
                yield _agent(root, settings.agent_for(archetype, name, rung), archetype, shown, backends)


def titles(settings: Settings, archetype: Archetype) -> Iterator[tuple[str, str]]:
    """Names of specs that have a say of their own (empty: all others), and the table where it stands."""
    yield "", f"agents.{archetype}"
    for name, own in settings.specs.named.items():
        if archetype in own.agents.model_fields_set:
            yield name, f"specs.{name}.agents.{archetype}"


def used(settings: Settings) -> Iterator[Archetype]:
    plan = settings.plan
    yield Archetype.CODER
    is_reviewed = Gate(settings.policy.required_state) is not Gate.TESTED
    if plan.pre_review or plan.drift_review or plan.audit_review or is_reviewed:
        yield Archetype.REVIEWER
    if plan.verifier:
        yield Archetype.VERIFIER


def _agent(root: Path, agent: AgentSettings, archetype: Archetype, name: str, backends: Mapping[str, Backend]) -> Check:
    missing = [lack for backend in agent.backends if (lack := lacks(backends, backend, agent, root))]
    missing += filter(None, [choice_trouble(archetype, agent), role_trouble(archetype, agent)])
    if missing:
        return Check(name, State.MISSING, "; ".join(missing), f"see [{name}] in {FILE}")
    return Check(name, State.OK, " ".join([*agent.backends, *agent.command[:1]]))
