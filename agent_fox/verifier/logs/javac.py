"""What javac prints: errors and warnings with the source line and a caret. Kotlin's compiler lines too."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind, Parsed
from agent_fox.verifier.logs.drafts import Draft, DraftReader, Findings

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

ERRORS = "error|エラー|错误|錯誤|Fehler|erreur|오류"
WARNINGS = "warning|警告|Warnung|avertissement|경고"
_HEAD = regex(
    rf"(?P<file>(?:[A-Za-z]:)?[^:\n]*\.(?:java|jav|aj)):(?P<line>\d+): (?:(?P<error>{ERRORS})|{WARNINGS}): ?"
    rf"(?P<message>.+)"
)
_BARE = regex(rf"(?:(?P<error>{ERRORS})|(?:{WARNINGS})): ?(?P<message>.+)")
_KOTLIN = regex(
    r"(?P<severity>[ew]): (?P<file>(?:file://)?[^\n]*?\.kts?):(?: \()?(?P<line>\d+)(?::|, )(?P<column>\d+)"
    r"(?:\):)?:? ?(?P<message>.+)"
)
_CARET = regex(r"(\s*)\^\s*$")
_SYMBOL = regex(r"\s+(?:symbol|シンボル|符号|Symbol): *(?P<symbol>.+)")
_COUNT = regex(r"(?:\d+ (?:errors?|warnings?|Fehler|Warnung(?:en)?)|(?:エラー|警告)\d+個|\d+ 个(?:错误|警告))$")
_ENDS = regex(r"(?:Note|ノート|注|Hinweis): ")
_CODE = regex(r"\[([a-z][\w-]*)\] ")
_ENVIRONMENT = regex(
    r"invalid (?:target|source) release|release version \S+ not supported|invalid flag|no source files"
    r"|source release \S+ requires"
)


class JavacLog:
    """Reads javac's own output, in the languages that a JDK speaks."""

    tools = ("javac",)

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        findings = Findings()
        reader = JavacReader(findings, workspace)
        for line in lines:
            reader.feed(line)
        reader.finish()
        return findings.parsed()


class JavacReader(DraftReader):
    """Takes javac's lines out of a log, for javac itself and for the build tools that show its output."""

    def __init__(self, findings: Findings, workspace: Workspace) -> None:
        super().__init__(findings)
        self._workspace = workspace

    def feed(self, line: str) -> bool:
        """Whether the line was the compiler's."""
        if ":" in line and (match := _placed(line)):
            self._begin(self._located(match, line))
        elif ": " in line[:16] and (match := _BARE.match(line)):
            self._begin(self._bare(match, line))
        elif self._open is None:
            return False
        elif _COUNT.match(line) or _ENDS.match(line) or not line.strip():
            self.finish()
        else:
            self._continue(self._open, line)
        return True

    def _located(self, found: re.Match[str], line: str) -> Draft:
        parts = found.groupdict()
        return Draft(
            kind=FailureKind.COMPILE_ERROR,
            message=parts["message"].strip(),
            file=self._workspace.relative(parts["file"]),
            line=int(parts["line"]),
            column=int(parts["column"]) if parts.get("column") else None,
            code=_code(parts["message"]),
            is_warning=not parts.get("error") and parts.get("severity") != "e",
            evidence=[line],
        )

    def _bare(self, found: re.Match[str], line: str) -> Draft:
        message = found["message"].strip()
        kind = FailureKind.ENVIRONMENT_FAILURE if _ENVIRONMENT.match(message) else FailureKind.COMPILE_ERROR
        return Draft(kind, message, code=_code(message), is_warning=not found["error"], evidence=[line])

    def _continue(self, draft: Draft, line: str) -> None:
        draft.add(line)
        if draft.column is None and (caret := _CARET.match(line)) and len(draft.evidence) > 2:
            draft.column = len(caret[1]) + 1
        elif draft.symbol is None and (symbol := _SYMBOL.match(line)):
            draft.symbol = " ".join(symbol["symbol"].split())


def _placed(line: str) -> re.Match[str] | None:
    match = _HEAD.match(line) if ".j" in line or ".aj" in line else None
    return match or (_KOTLIN.match(line) if line[1:3] == ": " else None)


def invalid_environment(message: str) -> bool:
    """Whether the compiler refused its settings, not the source."""
    return bool(_ENVIRONMENT.search(message))


def _code(message: str) -> str | None:
    match = _CODE.match(message)
    return match[1] if match else None
