"""What rustc and clippy print, long or short: an error or warning, then an arrow with its place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.drafts import Draft, Findings

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_HEAD = regex(r"(?P<severity>error|warning)(?:: internal compiler error)?(?:\[(?P<code>[\w:]+)\])?: (?P<message>.+)")
_SHORT = regex(
    r"(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]*\.(?:rs|toml)):(?P<line>\d+):(?P<column>\d+): (?P<severity>error"
    r"|warning)(?:\[(?P<code>[\w:]+)\])?: (?P<message>.+)"
)
_ARROW = regex(r"\s*--> (?P<file>.+?):(?P<line>\d+):(?P<column>\d+)$")
_LEVEL = regex(
    r"`#\[(?:warn|deny|forbid)\((?P<code>[\w:]+)\)\]`|requested on the command line with `-[DWF] (?P<flag>[\w:-]+)`"
)
_CLIPPY = regex(r"rust-clippy/\S*#(?P<lint>\w+)")
_LINKED = regex(r"referenced by [^\s(]+ \((?P<file>[^():]+):(?P<line>\d+)\)")
_SYMBOL = regex(r"(?:undefined symbol: |undefined reference to [`'])(?P<symbol>[^\s'`]+)")
_SUMMARY = regex(
    r"`[^`]+` \([^)]*\) generated \d+ warning|\d+ warnings? emitted|aborting due to|build failed, waiting"
    r"|could not compile"
    r"|Some errors have detailed|test failed, to rerun|doctest failed|\d+ targets? failed|unused manifest key"
)
_BODY = regex(r"\s|\d+ |= |note: |help: |For more information|\.\.\.")


class RustcReader:
    """Takes the compiler's diagnostics out of a log. What has no place is left to cargo's reader, as `bare`."""

    def __init__(self, findings: Findings, workspace: Workspace) -> None:
        self._findings = findings
        self._workspace = workspace
        self._open: Draft | None = None
        self.bare: list[Draft] = []

    def feed(self, line: str) -> bool:
        """Whether the line was the compiler's."""
        if line[:1] in "ew" and (match := _HEAD.match(line)):
            self.finish()
            if not _SUMMARY.match(match["message"]):
                self._open = _draft(match, line)
        elif ": " in line and (match := _SHORT.match(line)):
            self.finish()
            self._findings.keep(self._placed(_draft(match, line), match))
        elif self._open is None:
            return False
        elif not line.strip():
            self.finish()
        elif _BODY.match(line) or self._open.file is None:
            self._continue(self._open, line)
        else:
            self.finish()
            return False
        return True

    def finish(self) -> None:
        draft, self._open = self._open, None
        if draft is None:
            return
        if draft.code and draft.code.startswith("clippy::"):
            draft.kind = FailureKind.LINT_FAILURE
        if draft.file or draft.is_warning or draft.message.startswith("linking with"):
            self._findings.keep(draft)
        else:
            self.bare.append(draft)

    def _placed(self, draft: Draft, found: re.Match[str]) -> Draft:
        draft.file = self._workspace.relative(found["file"])
        draft.line, draft.column = int(found["line"]), int(found["column"])
        return draft

    def _continue(self, draft: Draft, line: str) -> None:
        """The first arrow is the place; later ones belong to notes. A lint's name stands in a note too."""
        draft.add(line)
        if draft.file is None and (match := _ARROW.match(line)):
            self._placed(draft, match)
        elif clippy := _CLIPPY.search(line):
            draft.code = f"clippy::{clippy['lint']}"
        elif draft.code is None and (level := _LEVEL.search(line)):
            draft.code = (level["code"] or level["flag"]).replace("-", "_")
        elif draft.message.startswith("linking with"):
            self._linked(draft, line)

    def _linked(self, draft: Draft, line: str) -> None:
        if draft.symbol is None and (symbol := _SYMBOL.search(line)):
            draft.symbol = symbol["symbol"]
            draft.message = f"{draft.message}: undefined symbol {draft.symbol}"
        elif draft.file is None and (match := _LINKED.search(line)):
            draft.file, draft.line = self._workspace.relative(match["file"]), int(match["line"])


def _draft(found: re.Match[str], line: str) -> Draft:
    is_warning = found["severity"] == "warning"
    message = found["message"].strip()
    return Draft(FailureKind.COMPILE_ERROR, message, code=found["code"], is_warning=is_warning, evidence=[line])
