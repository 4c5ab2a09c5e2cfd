"""What the TypeScript compiler prints, plain and `--pretty`; vue-tsc, ts-node and ts-jest print the same lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind, Parsed
from agent_fox.verifier.logs.diagnostics import Diagnostics, diagnostic, first_match

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_REST = r"(?P<severity>error|warning|info|message) (?P<code>TS\d+): (?P<message>.*)$"
PLAIN = regex(rf"(?P<file>\S.*?)\((?P<line>\d+),(?P<column>\d+)\): {_REST}")
PRETTY = regex(rf"(?P<file>\S.*?):(?P<line>\d+):(?P<column>\d+) - {_REST}")
_WHOLE = regex(rf"{_REST}")
_SOURCE = regex(r"\s*$|\s*\d+ |\s+~+\s*$|\s")
_BUILD_TIME = regex(r"\[?\d{1,2}:\d{2}:\d{2}(?: [AP]M)?\]? - ")


class TscLog:
    """Reads the compiler's errors. An error without a place concerns the configuration or the command line."""

    tools = ("tsc", "vue-tsc", "ts-node")

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        diagnostics = Diagnostics()
        for line in lines:
            _take(line, diagnostics, workspace)
        return diagnostics.parsed()


def _take(line: str, found: Diagnostics, workspace: Workspace) -> None:
    if found.gathering.is_full:
        return
    may_match = " TS" in line  # cheaper than a pattern, for logs of other tools
    if may_match and (match := first_match((PLAIN, PRETTY, _WHOLE), _BUILD_TIME.sub("", line, count=1))):
        found.begin(diagnostic(match, FailureKind.COMPILE_ERROR, workspace))
    elif found.open is None:
        return
    elif _SOURCE.match(line):
        found.add(line)
    else:
        found.close()
