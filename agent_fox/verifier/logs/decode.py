"""From a log's bytes to lines that parsers can read: encodings, colours, line ends. What lines mean is elsewhere."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import BinaryIO

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.logs.kinds import patterns_in

_LIKE = patterns_in(__file__)
CHUNK = 1 << 20  # bytes read at a time
LONGEST_LINE = 8_000  # characters kept of a line that people read
LONGEST_RECORD = 4_000_000  # characters kept of a line that programs read
HEAD = 1 << 16  # bytes that tell what a log is
TAIL = 1 << 14
LONGEST_ESCAPE = 64

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DROPPED = bytes(set(range(32)) - set(b"\t\n\r\x1b")) + b"\x7f"
_LOOKED_AT = 40  # lines that tell whether a runner of CI put the time before each
_UTF8_LETTER = regex(rb"[\xc3-\xf4][\x80-\xbf]")
_LAST_LETTER = regex(rb"(?:[\xc0-\xff][\x80-\xbf]*)?\Z")  # of several bytes


def without_colours(text: str) -> str:
    """`text` without terminal escape sequences."""
    return _LIKE["escape"].sub("", text) if "\x1b" in text else text


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a log from where it stands, to be read once, without ends or colours; a longer line is cut. Memory
    is bounded by a chunk and a line.

    A carriage return ends a line too: what a progress display wrote over is a line of its own.
    """

    file: BinaryIO
    longest: int = LONGEST_LINE

    def __iter__(self) -> Iterator[str]:
        for block in self.blocks():
            yield from block[:-1].split("\n")

    def blocks(self) -> Iterator[str]:
        """Many lines at a time, each with `\\n` behind it."""
        rest = ""
        for text in pieces(self.file):
            whole = (rest + text).replace("\r\n", "\n")
            held = "\r" if whole.endswith("\r") else ""  # perhaps the first half of a line end
            whole = whole.removesuffix(held).replace("\r", "\n")
            end = whole.rfind("\n") + 1
            if end:
                yield _with_short_lines(whole[:end], self.longest)
            rest = whole[end : end + self.longest] + held
        if rest.rstrip("\r"):
            yield rest.rstrip("\r")[: self.longest] + "\n"


def _with_short_lines(block: str, longest: int) -> str:
    """A line that is too long fills a window of half its length, so only such windows are looked at."""
    window = longest // 2
    if all(block.find("\n", at, at + window) >= 0 for at in range(0, len(block) - window, window)):
        return block
    return "\n".join(line[:longest] for line in block.split("\n"))


def pieces(file: BinaryIO) -> Iterator[str]:
    """The decoded text in pieces of any length, without colours, nor the time that a runner of CI put before lines."""
    is_stamped: bool | None = None
    for text in _decoded(file):
        if is_stamped is None:  # nearly all lines at the beginning begin with a time
            first = [line for line in text.split("\n", _LOOKED_AT)[:_LOOKED_AT] if line.strip()]
            stamped = sum(1 for line in first if _LIKE["stamp"].match(line))
            is_stamped = any(letter.isdigit() for letter in text[:2]) and stamped * 5 >= 4 * len(first)
        yield _LIKE["stamp"].sub("", text) if is_stamped else text


def _decoded(file: BinaryIO) -> Iterator[str]:
    start = b""
    while len(start) < 4 and (more := file.read(4 - len(start))):  # a pipe may give them one by one
        start += more
    following = b""
    if file.seekable():
        at = file.tell()
        following = file.read(512)
        file.seek(at)
    encoding, mark = _encoding(start + following)
    chunks = _chunks(file, start[mark:])
    if encoding == "utf-8":  # a bell stays where it may end an escape sequence
        dropped = ((chunk, _DROPPED if b"\x1b]" not in chunk else _DROPPED.replace(b"\x07", b"")) for chunk in chunks)
        yield from (without_colours(_text(chunk.translate(None, controls))) for chunk, controls in dropped)
    else:
        decoded = codecs.iterdecode(chunks, encoding, "replace")
        yield from (without_colours(text).replace("\x00", "") for text in decoded)


def head(file: BinaryIO) -> str:
    """The beginning of a log, for telling what it is."""
    return "".join(pieces(io.BytesIO(file.read(HEAD))))


def tail(file: BinaryIO, most: int) -> list[str]:
    """The last `most` lines that are not blank, of a file that can be searched."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    encoding, _ = _encoding(file.read(HEAD))
    file.seek(max(0, size - TAIL) // 4 * 4)
    mark = next((mark for mark, name in _MARKS if name == encoding), b"") if encoding != "utf-8" else b""
    last = [line for line in Lines(io.BytesIO(mark + file.read())) if line.strip()]
    return last[-most:]


def _encoding(start: bytes) -> tuple[str, int]:
    """The encoding that a beginning shows, and the length of its mark. Anything else is read as UTF-8."""
    for mark, name in _MARKS:
        if start.startswith(mark):
            return name, len(mark)
    nulls = start.count(b"\x00")
    if len(start) >= 4 and nulls * 3 >= len(start):
        odd = start[1::2].count(b"\x00")
        return ("utf-16-le" if odd * 2 > nulls else "utf-16-be"), 0
    return "utf-8", 0


def _chunks(file: BinaryIO, rest: bytes) -> Iterator[bytes]:
    """Chunks that end with a line, so that no letter or escape sequence is torn; a line longer than one is cut."""
    while data := file.read(CHUNK):
        data = rest + data
        at = data.rfind(b"\n") + 1
        if not at and len(data) >= CHUNK:  # before an escape sequence that may go on, or before the last letter
            letter = _LAST_LETTER.findall(data[-4:])[0]
            at = max(0, data.rfind(b"\x1b", max(1, len(data) - LONGEST_ESCAPE))) or len(data) - len(letter)
        rest = data[at:]
        if at:
            yield data[:at]
    if rest:
        yield rest


def _text(chunk: bytes, *, is_line: bool = False) -> str:
    """UTF-8; line by line another encoding where a line is not. Text with real UTF-8 letters is damaged UTF-8; else it
    is of Western Europe, in the wider of two encodings."""
    try:
        return chunk.decode("utf-8")
    except UnicodeDecodeError:
        if not is_line:
            return "".join(_text(line, is_line=True) for line in chunk.splitlines(keepends=True))
        if _UTF8_LETTER.search(chunk):
            return chunk.decode("utf-8", "replace")
    try:
        return chunk.decode("cp1252")
    except UnicodeDecodeError:
        return chunk.decode("latin-1")
