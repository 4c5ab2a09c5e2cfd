"""One repository with its settings and plugins, and what can be asked of it before anything runs. Runs nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core import words
from agent_fox.core.values import dataclass
from agent_fox.engine.planning import preflight
from agent_fox.engine.planning.extensions import Runners, backends_of, handlers_of, tracker_of
from agent_fox.engine.planning.from_settings import RunRefused, state_folder
from agent_fox.engine.planning.plan_reading import read_plan
from agent_fox.engine.planning.plugged_dialects import dialects_of
from agent_fox.engine.planning.scope import Scope, scope_of, with_dependencies
from agent_fox.engine.record.board import Board
from agent_fox.engine.record.watch import Watch, unwatched
from agent_fox.store import plan as stored
from agent_fox.system.state_folders import folder_of

if TYPE_CHECKING:
    import pluggy
    from sqlite_utils import Database

    from agent_fox.config import Settings
    from agent_fox.engine.handlers.handling import ResultHandler
    from agent_fox.trackers.protocol import Tracker


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a person may say on the command line. No `specs` means all; those named bring what they depend on."""

    specs: tuple[str, ...] = ()
    parallel: int | None = None
    skip_broken: bool = False
    new_run: bool = False
    redo: bool = False
    reprove: bool = False


@dataclass
class Workplace:
    """One repository with its settings and plugins."""

    root: Path
    settings: Settings
    plugins: pluggy.PluginManager
    watch: Watch = unwatched
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    def check(self, options: RunOptions) -> tuple[str, Scope]:
        """All checks that need no state; nothing is changed."""
        head = preflight.check_repository(self.root, self.settings.git.integration_branch)
        plan = read_plan(self.root, self.settings, dialects_of(self.plugins))
        scope = scope_of(plan, self.settings, skip_broken=options.skip_broken)
        unknown = set(options.specs) - {spec.name for spec in scope.plan.specs}
        if unknown:
            names = [spec.name for spec in scope.plan.specs]
            hint = words.did_you_mean(min(unknown), names, f"; there are: {words.listed(names)}")
            raise RunRefused(f"--spec {', '.join(sorted(unknown))}: there is no such spec{hint}")
        if options.reprove and self.settings.verify.counterfactual == "off":
            raise RunRefused(
                '--reprove: [verify] counterfactual is "off", so that a reading would show no more than before; '
                'set it to "require" or "report"'
            )
        address = self.settings.cluster.engine
        is_elsewhere = bool(address) and self.is_other_host(address)
        backends = backends_of(self.plugins)
        preflight.check_settings(self.settings, scope.plan, backends, self.root, is_elsewhere=is_elsewhere)
        self.tracker()
        self.handlers()
        return head, scope

    def is_other_host(self, address: str) -> bool:
        """Whether sessions of that engine have the agents' programs of another host."""
        return address.startswith("ssh://") or self.runners().named(address).outlives

    def tracker(self) -> Tracker:
        """Where issues go. Raises PluginError for a plugin that cannot be used."""
        return tracker_of(self.plugins, self.settings, self.root, self.environ)

    def handlers(self) -> tuple[ResultHandler, ...]:
        """The result handlers of plugins. Raises PluginError for a plugin that cannot be used."""
        return handlers_of(self.plugins)

    def runners(self) -> Runners:
        """Who runs launches, on this machine and elsewhere."""
        return Runners(self.plugins, self.settings, self.root, self.environ)

    def launches(self) -> Path:
        """Where workspaces live: outside the person's checkout, in a folder of this repository's own."""
        return folder_of(state_folder(self.root, self.settings, self.environ), self.root) / "launches"

    def board(self, db: Database, scope: Scope, options: RunOptions) -> Board:
        wanted = with_dependencies(scope.plan, options.specs) if options.specs else None
        return Board(
            stored.load_nodes(db),
            stored.load_edges(db),
            stored.load_retry_edges(db),
            goes_on_after_escalation=self.settings.policy.on_escalation == "continue",
            in_scope=lambda name: name not in scope.broken and (wanted is None or name in wanted),
        )
