"""What linkers print: GNU ld, gold, lld, mold, Apple's. A missing symbol is one failure, however often it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.drafts import Draft, DraftReader, Findings

if TYPE_CHECKING:
    from agent_fox.verifier.logs.folders import Folders

_LINKER = regex(
    r"(?:[\w./+-]*/)?(?:[\w.-]+-)?(?:ld(?:\.\w+|64\.lld)?|rust-lld|mold|collect2|wasm-ld)"
    r"(?:\.exe)?[ \u00a0\u202f]?: (?P<rest>.*)"
)
_NAMES = regex(r"ld(?:\.\w+)?(?:\.exe)?[ \u00a0\u202f]?: |lld: |collect2: ")
_SECTION = regex(r"(?P<file>[^\s:(][^:(\n]*):\([.\w$]+\+0x[0-9a-fA-F]+\)[ \u00a0\u202f]?: (?P<message>.*)")
_LINE = regex(
    r"(?P<file>(?:[A-Za-z]:)?[^\s:(][^:(\n]*):(?P<line>\d+): "
    r"(?P<message>(?:undefined reference|multiple definition|référence indéfinie|Nicht definierter Verweis"
    r"|définitions? multiples?).*)"
)
_LLD = regex(
    r"(?:error: )?(?P<message>(?:undefined symbol|duplicate symbol|undefined reference"
    r"|unable to find library|cannot open) ?:? ?.*)"
)
_USED = regex(
    r"\s*>>> (?:referenced by|defined at) (?P<name>[^\s:()]+)(?::(?P<line>\d+))?(?: \((?P<path>[^():]+)(?::\d+)?\))?$"
)
_APPLE = regex(r'\s+"_?(?P<symbol>[^"]+)", referenced from:$')
_SYMBOL = regex(r"[`'‘«„»“] ?(?P<quoted>[^`'’«»“”]+?) ?['’»“«”]|symbol: (?P<named>\S.*)$")
_WARNING = regex(r"(?:\S+: )?(?:warning|Warnung|attention|警告)\b ?: ")
_CONTEXT = regex(
    r"(?<!\S)\S+\.(?:o|a|so|obj)(?:\([^)]*\))? ?: ?(?:in function|in Funktion|dans la fonction|関数)|(?:in function"
    r"|in Funktion) [`'»]"
)
_SILENT = regex(
    r"(?:error: )?ld returned|.*(?:ld gab \d|ld a retourné|ld はステータス)|final link failed|ld exited"
    r"|more undefined references"
)
_MISSING = regex(
    r"(?:error: )?(?:cannot find|unable to find library|library not found for|kann .* nicht finden|ne peut trouver)"
)


class LinkerReader(DraftReader):
    """Takes a linker's lines out of a build's log."""

    def __init__(self, findings: Findings, folders: Folders) -> None:
        super().__init__(findings)
        self._folders = folders

    def feed(self, line: str) -> bool:
        """Whether the line was a linker's."""
        prefixed = _LINKER.match(line) if ("ld" in line or "collect2" in line) and _NAMES.search(line) else None
        rest = prefixed["rest"] if prefixed else line
        if self._placed(rest, line):
            return True
        if prefixed:
            self._plain(rest, line)
            return True
        return self._follow(line)

    def _placed(self, rest: str, line: str) -> bool:
        """A message with an object's section or a source line before it, whatever its language."""
        match = _SECTION.match(rest) if ":(" in rest else _LINE.match(rest) if "éf" in rest or "efin" in rest else None
        if not match or _WARNING.match(match["message"]):
            return bool(match)
        message = match["message"].partition("; ")[0]
        number = match.groupdict().get("line")
        file = self._folders.source(match["file"])
        self._begin(_draft(message, line, file, int(number) if number else None))
        return True

    def _plain(self, rest: str, line: str) -> None:
        if _SILENT.match(rest):
            self.finish()
            self._findings.fall_back(Failure(FailureKind.COMPILE_ERROR, rest.removeprefix("error: "), evidence=line))
        elif _WARNING.match(rest):
            self.finish()
        elif not _CONTEXT.search(rest) and (_LLD.match(rest) or _MISSING.match(rest) or rest.startswith("error: ")):
            self._begin(_draft(rest.removeprefix("error: ").removesuffix(": No such file or directory"), line))

    def _follow(self, line: str) -> bool:
        """Lines after the first: where lld and Apple's linker say that a symbol was used."""
        if "referenced from" in line and (apple := _APPLE.match(line)):
            self._begin(_draft("undefined symbol: " + apple["symbol"], line))
            return True
        if self._open is None or not line.lstrip().startswith(">>>"):
            return False
        self._open.add(line)
        used = _USED.match(line)
        if used and self._open.file is None and not used["name"].endswith((".o", ".a")):
            self._open.file = self._folders.source(used["path"] or used["name"])
            self._open.line = int(used["line"]) if used["line"] else None
        return True


def _draft(message: str, line: str, file: str | None = None, number: int | None = None) -> Draft:
    named = _SYMBOL.search(message)
    symbol = (named["quoted"] or named["named"]).strip() if named else None
    return Draft(FailureKind.COMPILE_ERROR, message, file=file, line=number, symbol=symbol, evidence=[line])
