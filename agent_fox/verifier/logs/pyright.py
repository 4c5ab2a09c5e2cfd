"""What pyright and basedpyright print."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind, Parsed
from agent_fox.verifier.logs.diagnostics import Diagnostics, diagnostic

if TYPE_CHECKING:
    from agent_fox.verifier.logs.drafts import Draft
    from agent_fox.verifier.logs.protocol import Workspace

_LINE = regex(
    r"\s+(?P<file>\S.*?):(?P<line>\d+):(?P<column>\d+) - (?P<severity>error|warning|information): (?P<message>.*)$"
)
_RULE = regex(r"\s\((?P<code>report\w+)\)$")
_MORE = regex(r"\s{4}")


class PyrightLog:
    """Reads errors; warnings and information are warnings. A message may go on in lines further in."""

    tools = ("pyright", "basedpyright")

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        diagnostics = Diagnostics()
        for line in lines:
            if match := _LINE.match(line):
                diagnostics.begin(diagnostic(match, FailureKind.LINT_FAILURE, workspace))
                _take_rule(diagnostics.open, line)
            elif _MORE.match(line):
                diagnostics.add(line)
                _take_rule(diagnostics.open, line)
            else:
                diagnostics.close()
        return diagnostics.parsed()


def _take_rule(draft: Draft | None, line: str) -> None:
    if draft is not None and (rule := _RULE.search(line)):
        draft.code = rule["code"]
        draft.message = draft.message.removesuffix(rule[0])
