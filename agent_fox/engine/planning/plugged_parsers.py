"""The parsers of logs: built in, of files, and of plugins, behind a guard that names the plugin of what it raises."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeGuard

from agent_fox.core.late import late_module
from agent_fox.core.values import dataclass
from agent_fox.engine.planning.plugin_hooks import offered, refuse
from agent_fox.plugins import blamed_on
from agent_fox.store.light import is_of_the_world
from agent_fox.verifier.ground.results import Parsed
from agent_fox.verifier.logs.protocol import LogParser
from agent_fox.verifier.logs.registry import BUILT_IN, Parsers

if TYPE_CHECKING:
    from pathlib import Path

    import pluggy

    from agent_fox.verifier.logs import outside_formats
    from agent_fox.verifier.logs.protocol import Workspace
else:
    outside_formats = late_module("agent_fox.verifier.logs.outside_formats")


def is_parser(one: object) -> TypeGuard[LogParser]:
    return isinstance(one, LogParser) and bool(one.tools) and all(isinstance(tool, str) for tool in one.tools)


def parsers_of(plugins: pluggy.PluginManager, formats: Iterable[Path] = ()) -> Parsers:
    """All log parsers; for the tools they name, formats of files come first, in this order, then plugins'.

    Raises BadFormat for a file that is no format.
    """
    added = offered(plugins, "agent_fox_log_parsers", is_parser)
    read = [outside_formats.outside_format(path) for path in formats]
    return BUILT_IN.with_more([*read, *(GuardedParser(name, tuple(each.tools), each) for name, each in added)])


@dataclass(frozen=True, slots=True)
class GuardedParser:
    """A plugin's log parser. Raises PluginError for everything that it raises, and for what is not a Parsed."""

    plugin: str
    tools: tuple[str, ...]
    inner: LogParser

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        with blamed_on(self.plugin, f"the log parser of {', '.join(self.tools)}", is_of_the_world):
            parsed = self.inner.parse(lines, workspace)
            if not isinstance(parsed, Parsed):
                raise refuse(parsed, "a Parsed")
            return parsed
