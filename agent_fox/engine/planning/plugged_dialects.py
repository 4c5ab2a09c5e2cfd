"""The dialects of specs, built in and of plugins, which stand behind a guard: a spec one fails to read is broken."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from agent_fox.core.spec import Problem, Severity, Spec
from agent_fox.core.values import dataclass
from agent_fox.engine.planning.plugin_hooks import offered, refuse
from agent_fox.plugins import PluginError, blamed_on
from agent_fox.specs.dialects import Collection, Dialect
from agent_fox.specs.files import place_of
from agent_fox.specs.reader import BUILT_IN

if TYPE_CHECKING:
    import pluggy


def dialects_of(plugins: pluggy.PluginManager) -> tuple[Dialect, ...]:
    """All dialects, plugins' first: they are asked before the built-in ones."""
    added = offered(plugins, "agent_fox_dialects", is_dialect)
    return (*(guarded_dialect(plugin, dialect) for plugin, dialect in added), *BUILT_IN)


def guarded_dialect(plugin: str, one: Dialect) -> Dialect:
    if isinstance(one, Collection):
        return GuardedCollection(plugin, one.name, one)
    return GuardedDialect(plugin, one.name, one)


def is_dialect(one: object) -> TypeGuard[Dialect]:
    return isinstance(one, Dialect) and isinstance(one.name, str)


@dataclass(frozen=True, slots=True)
class GuardedDialect:
    """A plugin's dialect. A spec that it fails to read is broken, like one with an error in its files."""

    plugin: str
    name: str
    inner: Dialect

    def recognises(self, folder: Path) -> bool:
        with blamed_on(self.plugin, f"dialect {self.name!r}, looking at {folder}"):
            return bool(self.inner.recognises(folder))

    def read(self, folder: Path, root: Path) -> tuple[Spec | None, tuple[Problem, ...]]:
        try:
            with blamed_on(self.plugin, f"dialect {self.name!r}"):
                spec, problems = self.inner.read(folder, root)
                if not (spec is None or isinstance(spec, Spec)):
                    raise refuse(spec, "a Spec")
                return spec, tuple(problems)
        except PluginError as error:
            return None, (Problem(Severity.ERROR, place_of(folder, root), str(error), folder.name),)


@dataclass(frozen=True, slots=True)
class GuardedCollection(GuardedDialect):
    """A plugin's dialect whose files hold several specs."""

    inner: Collection

    def read_all(self, path: Path, root: Path) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
        try:
            with blamed_on(self.plugin, f"dialect {self.name!r}"):
                specs, problems = self.inner.read_all(path, root)
                odd = next((spec for spec in specs if not isinstance(spec, Spec)), None)
                if odd is not None:
                    raise refuse(odd, "a Spec")
                return tuple(specs), tuple(problems)
        except PluginError as error:
            return (), (Problem(Severity.ERROR, place_of(path, root), str(error), path.stem),)
