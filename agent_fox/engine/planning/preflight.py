"""Everything that can be wrong before anything starts: found here, all at once, and nothing has happened yet."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.config import FILE, AgentSettings, Settings, WorkspaceSettings
from agent_fox.core.late import late_module
from agent_fox.core.ledger.gates import Gate
from agent_fox.core.words import did_you_mean
from agent_fox.engine.launching.agents import agent_of, choice_trouble, own_words_trouble, role_trouble
from agent_fox.engine.planning.from_settings import RunRefused, RunStuck, own_state_folder
from agent_fox.engine.planning.scope import settings_errors
from agent_fox.session.agent import Provisions
from agent_fox.system import git

if TYPE_CHECKING:
    from agent_fox.cluster import places
    from agent_fox.core.graph import Plan
    from agent_fox.engine.launching import pushing
    from agent_fox.session.backends import Backend
    from agent_fox.session.workspaces import landing, workspace
    from agent_fox.system import git_objects
    from agent_fox.system.sandbox import bubblewrap as sandbox
    from agent_fox.trackers.text import template
    from agent_fox.verifier.lanes import formal
    from agent_fox.verifier.logs import outside_formats
else:
    places = late_module("agent_fox.cluster.places")
    pushing = late_module("agent_fox.engine.launching.pushing")
    workspace = late_module("agent_fox.session.workspaces.workspace")
    landing = late_module("agent_fox.session.workspaces.landing")
    git_objects = late_module("agent_fox.system.git_objects")
    sandbox = late_module("agent_fox.system.sandbox.bubblewrap")
    template = late_module("agent_fox.trackers.text.template")
    formal = late_module("agent_fox.verifier.lanes.formal")
    outside_formats = late_module("agent_fox.verifier.logs.outside_formats")

NOT_SET_UP = f"there is no {FILE}, so no agent has a command; run `agent-fox init`, then fill it in"


def check_repository(root: Path, branch: str) -> str:
    """The commit that HEAD names. Raises RunRefused or GitError for what would stop a run half-way."""
    git.check_version()
    if not git.is_repository(root):
        raise RunRefused(f"{root} is not a git repository; run `git init` there and commit, or go to your repository")
    head = git.head(root)
    if head is None:
        raise RunRefused(f"{root} has no commit yet; commit what there is, then run again")
    checked_out = git.checked_out_at(root, branch)
    if checked_out is not None:
        raise RunRefused(
            f"the branch {branch} is checked out at {checked_out}; switch to another branch there (git switch -), "
            "since work lands on it while nobody looks"
        )
    rival = rival_of(root, branch)
    if rival is not None:
        raise RunRefused(rival_told(branch, rival))
    check_lock(root, branch)
    unresolved = git.unresolved_submodules(root)
    if unresolved:
        raise RunRefused(f"submodules are not checked out: {', '.join(unresolved)}; run `git submodule update --init`")
    return head


def rival_of(root: Path, branch: str) -> str | None:
    """A branch whose name is a folder of this one's, or the other way round: git cannot have both."""
    above = [parent.as_posix() for parent in PurePosixPath(branch).parents if parent.name]
    refs = [f"refs/heads/{name}" for name in above] + [f"refs/heads/{branch}/"]
    refs_there = git.call(root, "for-each-ref", "--format=%(refname)", *refs).text.splitlines()
    names = [ref.removeprefix("refs/heads/") for ref in refs_there]
    return next((name for name in names if name in above or name.startswith(f"{branch}/")), None)


def rival_told(branch: str, rival: str) -> str:
    return (
        f"the branch {branch} cannot be made beside the branch {rival}; rename that "
        f"(git branch -m {rival} NEW_NAME), or set [git] integration_branch"
    )


def check_lock(root: Path, branch: str) -> None:
    """Raises RunStuck where another git holds the branch, or was killed while it did."""
    lock = git.common_folder(root) / "refs" / "heads" / f"{branch}.lock"
    if lock.exists():
        raise RunStuck(f"{lock} is in the way; if no git command is running, remove that file, then run again")


def check_settings(
    settings: Settings, plan: Plan, backends: Mapping[str, Backend], root: Path, *, is_elsewhere: bool = False
) -> None:
    """All that the settings name and this plan may need must be there. Raises RunRefused naming each that is not.

    `is_elsewhere`: sessions run on other hosts, which have the agents; each worker looks for them before a session.
    """
    agents = list(used_agents(settings, plan))
    missing = [
        *(f"{problem.where}: {problem.what}" for problem in settings_errors(plan)),
        *unreachable(settings),
        *missing_agents(agents, backends, root, are_elsewhere(agents, settings, is_elsewhere=is_elsewhere)),
        *(not_sent(settings, root) if is_elsewhere or any(place.ssh for place in settings.places.values()) else ()),
        *missing_provisions(settings, [agent for _, agent in agents], root),
        *(pushing.objections(root, settings.git) if settings.git.push else ()),
        *own_words_trouble(root),
        *template_trouble(settings, root),
        *format_trouble(settings, root),
    ]
    if missing:
        raise RunRefused("\n".join(dict.fromkeys(missing)))


def template_trouble(settings: Settings, root: Path) -> Iterator[str]:
    """Why issues cannot be written in the project's own words, where they are to be."""
    if settings.tracker.kind != "github" or settings.tracker.template is None:
        return
    try:
        template.read_template(root / settings.tracker.template)
    except template.TemplateTrouble as error:
        yield f"[tracker] template: {error}"


def format_trouble(settings: Settings, root: Path) -> Iterator[str]:
    """Why a format of lines cannot be used, without which no session's verifier would start."""
    for file in settings.verify.formats:
        try:
            outside_formats.outside_format(root / file)
        except outside_formats.BadFormat as error:
            yield f"[verify] formats: {error}"


def unreachable(settings: Settings) -> Iterator[str]:
    """Evidence that is asked for and that nothing here can give: a run could never end with 0."""
    wanted = Gate(settings.policy.required_state)
    if wanted is not Gate.TESTED and not settings.plan.verifier:
        yield f'[policy] required_state = "{wanted}" needs verdicts first; set [plan] verifier = true'
    if wanted is Gate.PROVED and formal.why_missing():
        yield f'[policy] required_state = "{wanted}", but {formal.why_missing()}'
    if settings.verify.sandbox == "require" and sandbox.why_missing():
        yield f'[verify] sandbox = "require", but {sandbox.why_missing()}'


def not_sent(settings: Settings, root: Path) -> Iterator[str]:
    """Files of this checkout that sessions are to have, and that git, which workers get them by, does not hold."""
    tracked = set(git.call(root, "ls-files", "-z").records)
    for setting, patterns in (("copy", settings.workspace.copies), ("link", settings.workspace.link)):
        for pattern in patterns:
            paths = [path.relative_to(root).as_posix() for path in root.glob(pattern)]
            if not paths or not all(path in tracked for path in paths):
                yield (
                    f"[workspace] {setting}: {pattern!r} is not in git, so that workers do not get it; have "
                    "[workspace] setup make what sessions need, or run them here"
                )
    for file in settings.verify.formats:
        if file not in tracked:
            yield f"[verify] formats: {file!r} is not in git, so that workers do not get it; commit it"


def are_elsewhere(
    agents: Iterable[tuple[str, AgentSettings]], settings: Settings, *, is_elsewhere: bool
) -> frozenset[str]:
    """The archetypes of which some sessions at least are held on other hosts or in containers."""
    names = frozenset(archetype for archetype, _ in agents)
    if is_elsewhere or not settings.places:
        return names if is_elsewhere else frozenset()
    return frozenset(name for name in names if places.are_elsewhere(name, settings))


def missing_agents(
    agents: Iterable[tuple[str, AgentSettings]], backends: Mapping[str, Backend], root: Path, elsewhere: Container[str]
) -> Iterator[str]:
    """`elsewhere`: the archetypes whose programs are not looked for here."""
    is_set_up = (root / FILE).exists()
    for archetype, agent in agents:
        for trouble in filter(None, (choice_trouble(archetype, agent), role_trouble(archetype, agent))):
            yield f"[agents.{archetype}] {trouble}"
        for name in agent.backends:
            lack = None if archetype in elsewhere and name in backends else lacks(backends, name, agent, root)
            if lack is not None:
                is_untold = not is_set_up and name == "command" and not agent.command
                yield NOT_SET_UP if is_untold else f"[agents.{archetype}] {lack}"


def missing_provisions(settings: Settings, agents: Iterable[AgentSettings], root: Path) -> Iterator[str]:
    """What is wrong with `[workspace]`, in sentences. Setup commands see the PATH of each of the agents."""
    own = settings.workspace
    if own.state is not None and (trouble := state_trouble(root, own.state)):
        yield trouble
    if not (own.setup or own.copies or own.link):
        return
    commits = ("HEAD", f"refs/heads/{settings.git.integration_branch}")
    for path in dict.fromkeys(agent.environment.get("PATH", os.environ.get("PATH")) for agent in agents):
        yield from workspace.lacks(provisions_of(own), root, commits, path)


def provisions_of(own: WorkspaceSettings) -> Provisions:
    setup = tuple(line if isinstance(line, str) else tuple(line) for line in own.setup)
    return Provisions(setup, tuple(own.copies), tuple(own.link))


def state_trouble(root: Path, state: str) -> str | None:
    """Why workspaces cannot be in that place; None where they can. Nothing is made there."""
    try:
        place = own_state_folder(root, state)
    except RunRefused as error:
        return str(error)
    nearest = next(folder for folder in (place, *place.parents) if folder.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        return f"[workspace] state = {state!r}: {nearest} cannot be written; name a folder that can"
    if place.is_relative_to(root.resolve()) and not is_ignored(root, place / "launches"):
        return f"[workspace] state = {state!r}: {place} is inside the repository; have git ignore it, or name another"
    return None


def is_ignored(root: Path, place: Path) -> bool:
    return git.call(root, "check-ignore", "--quiet", "--", str(place), allowed=(0, 1, 128)).status == 0


def used_agents(settings: Settings, plan: Plan) -> Iterable[tuple[str, AgentSettings]]:
    kinds = dict.fromkeys((node.archetype.value, node.spec_name) for node in plan.nodes)
    for archetype, spec_name in kinds:
        for rung in range(settings.rungs_of(archetype, spec_name) + 1):
            yield archetype, settings.agent_for(archetype, spec_name, rung)


def lacks(backends: Mapping[str, Backend], name: str, agent: AgentSettings, root: Path) -> str | None:
    backend = backends.get(name)
    if backend is None:
        hint = did_you_mean(name, backends)
        return f"there is no backend {name!r}{hint} (known: {', '.join(sorted(backends))})"
    return backend.missing(agent_of(agent, name), root)


def bring_in_head(root: Path, branch: str, head: str) -> str:
    """Make the integration branch from HEAD, or merge HEAD into it. Gives its tip. Raises RunRefused on a conflict."""
    tip = git.commit_of(root, f"refs/heads/{branch}")
    if tip is None:
        git.move_ref(root, f"refs/heads/{branch}", head, None)
        return head
    if git.is_ancestor(root, head, tip):
        return tip
    merged = head if git.is_ancestor(root, tip, head) else merge_head(root, branch, tip, head)
    if not landing.move(root, branch, merged, tip):
        raise RunRefused(f"the branch {branch} was moved by someone else just now; run again")
    return merged


def merge_head(root: Path, branch: str, tip: str, head: str) -> str:
    merged = git_objects.merge(root, tip, head)
    if isinstance(merged, git_objects.Conflict):
        raise RunRefused(
            f"HEAD and {branch} both changed {', '.join(merged.files)}; merge them yourself "
            f"(git switch {branch} && git merge {head[:12]} && git switch -), then run again"
        )
    message = f"Merge HEAD ({head[:12]}) into {branch}\n"
    return git_objects.commit_tree(root, merged.tree, [tip, head], message, git.identity(root))
