"""What gcc, clang and MSVC print for C and C++, in the languages that gcc speaks; and linkers: GNU ld, gold, lld, mold,
Apple's. A missing symbol is one failure, however often it is used."""

from __future__ import annotations

import re
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
_WARNS = regex(r"(?:\S+: )?(?:warning|Warnung|attention|警告)\b ?: ")
_IN_FUNCTION = regex(
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
        if not match or _WARNS.match(match["message"]):
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
        elif _WARNS.match(rest):
            self.finish()
        elif not _IN_FUNCTION.search(rest) and (_LLD.match(rest) or _MISSING.match(rest) or rest.startswith("error: ")):
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


_FATAL = (
    "fatal error|schwerwiegender Fehler|erreur fatale|致命的エラー|致命错误|error fatal|errore irreversibile"
    "|фатальная ошибка|błąd krytyczny|erro fatal|error grave"
)
_ERROR = "internal compiler error|error|Error|Fehler|erreur|エラー|错误|錯誤|errore|ошибка|błąd|erro|오류|fel|hata"
_WARNING = (
    "warning|Warning|Warnung|attention|avertissement|警告|aviso|attenzione|предупреждение|ostrzeżenie|경고|varning"
    "|uyarı"
)
_NOTE = "note|Anmerkung|備考|附注|附註|nota|замечание|uwaga|remark|anm|bilgi"
_SEVERITY = (
    rf"(?:sorry, unimplemented|(?P<error>{_FATAL}|{_ERROR})|(?P<warning>{_WARNING})|(?P<note>{_NOTE}))"
    r"[ \u00a0\u202f]?[:：]"
)
_HEAD = regex(
    r"(?!\d[\d:T-]*:)(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]*):(?P<line>\d+)(?::(?P<column>\d+))?: *"
    rf"{_SEVERITY} *(?P<message>.*)"
)
_SPOT = regex(rf":\d+: *{_SEVERITY}|\) ?: (?:fatal )?(?:error|warning|note)")
_NUMBER = regex(r":\d+:|\) ?: ")  # cheaper than what follows
_MSVC = regex(
    r"(?P<file>(?:[A-Za-z]:)?[^\s:(][^:(\n]*)\((?P<line>\d+)(?:,(?P<column>\d+))?\) ?: "
    r"(?:(?P<error>(?:fatal )?error)|(?P<warning>warning)|(?P<note>note))(?P<number> [A-Z]+\d+)?: (?P<message>.*)"
)
_DRIVER = regex(
    rf"(?:[\w./+-]*/)?(?P<program>cc1|cc1plus|cc1obj|gcc|g\+\+|cc|c\+\+|clang|clang\+\+|clang-\d+|gcc-\d+"
    rf"|g\+\+-\d+|as)"
    rf"(?:\.exe)?: {_SEVERITY} *(?P<message>.*)"
)
_SUMMARY = regex(
    r"all warnings being treated|too many errors|linker command failed|no input files"
    r"|alle Warnungen werden als Fehler"
    r"|tous les avertissements|すべての警告"
)
_ENDS = regex(
    r"\d+ (?:warnings?|errors?)(?: and \d+ errors?)? generated|compilation terminated|Kompilierung beendet"
    r"|compilation terminée|コンパイルを停止|[\w./+-]*make(?:\[\d+\])?: |\[\s*\d+%\] |\[\d+/\d+\] |FAILED: |collect2"
)
_CODE = regex(r" \[(?P<code>-W[^\]\s]*|-f[^\]\s]*|-pedantic|[a-z]+(?:-[\w.]+)+(?:,[\w.-]+)*)\]$")
_REQUIRED = regex(
    r"(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]*):(?P<line>\d+):(?P<column>\d+): +(?:recursively )?requ(?:ired|is)"
)
_INCLUDED = regex(
    r"(?:In file included|In module|In Datei|Dans le fichier inclus|\s+(?:from|von|de) |次のファイルから)"
)
_CONTEXT = regex(r"\S.*?: (?:In|At|in|Dans|Auf|関数|En|В) ?.*[:内]$")


class CompilerReader(DraftReader):
    """Takes the lines of C and C++ compilers out of a build's log."""

    def __init__(self, findings: Findings, folders: Folders) -> None:
        super().__init__(findings)
        self._folders = folders
        self._asked: tuple[str, int, int] | None = None  # where the code was used that an outside header fails in

    def feed(self, line: str) -> bool:
        """Whether the line was a compiler's."""
        if _NUMBER.search(line) and _SPOT.search(line) and (match := _HEAD.match(line) or _MSVC.match(line)):
            self._located(match, line)
        elif ": " in line[:80] and (driver := _DRIVER.match(line)):
            self._driver(driver, line)
        elif "requ" in line and (required := _REQUIRED.match(line)):
            self._note_use(required)
        elif (line[-1:] in (":", "内") and _CONTEXT.match(line)) or _INCLUDED.match(line):
            self.finish()
        elif self._open is None:
            return False
        else:
            return self._continue(self._open, line)
        return True

    def _located(self, found: re.Match[str], line: str) -> None:
        if found["note"]:
            self._note(found, line)
            return
        self.finish()
        self._open = draft = self._draft(found, line)
        if self._asked and draft.file and not self._folders.holds(draft.file):
            draft.file, draft.line, draft.column = self._asked
        self._asked = None

    def _draft(self, found: re.Match[str], line: str) -> Draft:
        message, code = _message(found["message"])
        number = (found.groupdict().get("number") or "").strip()
        return Draft(
            kind=_kind(code or ""),
            message=message,
            file=self._folders.relative(found["file"]),
            line=int(found["line"]),
            column=int(found["column"]) if found["column"] else None,
            code=code or number or None,
            is_warning=bool(found["warning"]),
            evidence=[line],
        )

    def _note(self, found: re.Match[str], line: str) -> None:
        """clang tells after an error in a header where the code was asked for; gcc tells it before."""
        if self._open is None:
            return
        self._open.add(line)
        is_outside = self._open.file is not None and not self._folders.holds(self._open.file)
        used = self._folders.relative(found["file"])
        if is_outside and "requested here" in found["message"] and self._folders.holds(used):
            self._open.file, self._open.line = used, int(found["line"])
            self._open.column = int(found["column"]) if found["column"] else None

    def _note_use(self, found: re.Match[str]) -> None:
        self.finish()
        used = self._folders.relative(found["file"])
        if self._folders.holds(used):
            self._asked = (used, int(found["line"]), int(found["column"]))

    def _driver(self, found: re.Match[str], line: str) -> None:
        """Messages without a place: a missing source file, an unknown option. Summaries of other errors are none."""
        self.finish()
        if _SUMMARY.search(found["message"]) or found["note"]:
            return
        message, code = _message(found["message"])
        self._findings.keep(
            Draft(FailureKind.COMPILE_ERROR, message, code=code, is_warning=bool(found["warning"]), evidence=[line])
        )

    def _continue(self, draft: Draft, line: str) -> bool:
        if _ENDS.match(line) or not line.strip():
            self.finish()
            return False
        draft.add(line)
        return line[:1] in " \t"


def _kind(code: str) -> FailureKind:
    """What clang-format and clang-tidy find goes by the names of their checks."""
    if code == "-Wclang-format-violations":
        return FailureKind.FORMAT_FAILURE
    is_check = code and not code.startswith(("-", "clang-diagnostic-error"))
    return FailureKind.LINT_FAILURE if is_check else FailureKind.COMPILE_ERROR


def _message(text: str) -> tuple[str, str | None]:
    match = _CODE.search(text)
    return (text[: match.start()].rstrip(), match["code"]) if match else (text.strip(), None)
