"""Feeding an XML report to a reader, element by element, in flat memory. Document types and entities are refused."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from typing import BinaryIO, Protocol
from xml.parsers import expat

from agent_fox.core.regex import regex
from agent_fox.verifier.logs.documents import Cut

LARGEST_PART = 8 << 20  # bytes of one tag or comment
_CHUNK = 1 << 16
_START = regex(rb"<\?xml|<[A-Za-z_!]")
_REFERENCE = regex(rb"&#(?:[xX]0*(?:[0-8bcefBCEF]|1[0-9a-fA-F])|0*(?:[0-8]|1[124-9]|2\d|3[01]));")
_LONGEST_REFERENCE = 12
_MORE_AFTER_END = expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]
_ENCODING = regex(rb"""^<\?xml[^>]*?encoding=["']([\w.:-]+)["']""")
_UTF8 = ("utf-8", "utf8")
_DROPPED = bytes(set(range(32)) - set(b"\t\n\r"))


class XmlCut(Cut):
    """What cannot be read to its end: cut off, no XML, or with a document type. The message says which."""


class XmlReader(Protocol):
    """Gets the elements of a document in their order."""

    def start(self, tag: str, attributes: dict[str, str]) -> None: ...

    def characters(self, text: str) -> None: ...

    def end(self, tag: str) -> None: ...


class XmlSkipper(Protocol):
    """Passes over elements that it knows by their bytes alone, and counts them itself."""

    @property
    def opening(self) -> bytes:
        """What such an element begins with."""
        ...

    def skip(self, data: bytes, at: int) -> int:
        """Where the first byte stands that has to be read. At `at` the content of an element goes on, in UTF-8."""
        ...


def read_xml(file: BinaryIO, reader: XmlReader) -> None:
    """Give `reader` the first document in `file`. Raises XmlCut; the reader has seen what came before."""
    for _ in feed_xml(file, reader):
        pass


def feed_xml(file: BinaryIO, reader: XmlReader, skipper: XmlSkipper | None = None) -> Iterator[None]:
    """Give `reader` the first document in `file`, but for what `skipper` passes over, and stop after each chunk of it.

    Lines before it are skipped, and whatever follows it. Characters that XML forbids are left out, as reports of real
    tools hold them. Raises XmlCut; the reader has seen what came before.
    """
    feeder = _Feeder(reader)
    try:
        for data in _clean_chunks(file):
            feeder.feed(data, skipper)
            yield
        feeder.close()
        yield
    except expat.ExpatError as error:
        if error.code != _MORE_AFTER_END:
            raise XmlCut(f"it is cut off or is no XML: {error}") from error


class _Feeder:
    """Feeds the parser, and knows where it stands in the document."""

    def __init__(self, reader: XmlReader) -> None:
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = reader.start
        self._parser.EndElementHandler = reader.end
        self._parser.CharacterDataHandler = reader.characters
        self._parser.StartDoctypeDeclHandler = _refuse_doctype
        self._parser.XmlDeclHandler = self._declare
        self._parser.StartCdataSectionHandler = self._begin_cdata
        self._parser.EndCdataSectionHandler = self._end_cdata
        self._fed = 0
        self._is_utf8 = True
        self._is_cdata = False

    def feed(self, data: bytes, skipper: XmlSkipper | None) -> None:
        begin = at = 0
        while skipper and (at := data.find(skipper.opening, at)) >= 0:
            self._parse(data[begin:at])
            begin = skipper.skip(data, at) if self._is_between_parts else at
            at = max(begin, at + 1)
        self._parse(data[begin:])
        if self._fed - self._parser.CurrentByteIndex > LARGEST_PART:
            raise XmlCut("one of its tags is larger than a report's")

    def close(self) -> None:
        self._parser.Parse(b"", True)

    @property
    def _is_between_parts(self) -> bool:
        """Whether all was understood that was fed: no tag, comment or CDATA section is open."""
        return self._is_utf8 and not self._is_cdata and self._parser.CurrentByteIndex == self._fed

    def _parse(self, data: bytes) -> None:
        self._parser.Parse(data, False)
        self._fed += len(data)

    def _declare(self, version: str, encoding: str | None, standalone: int) -> None:
        self._is_utf8 = encoding is None or encoding.lower() in _UTF8

    def _begin_cdata(self) -> None:
        self._is_cdata = True

    def _end_cdata(self) -> None:
        self._is_cdata = False


def _clean_chunks(file: BinaryIO) -> Iterator[bytes]:
    """The document's bytes, from its start on, without what XML forbids."""
    first = file.read(_CHUNK)
    if first[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in first[:4]:  # 16 bits a letter: as it is
        yield first
        yield from iter(lambda: file.read(_CHUNK), b"")
        return
    data = _from_start(first)
    encoding = _ENCODING.match(data)
    recode = _as_utf8() if encoding is None or encoding[1].decode().lower() in _UTF8 else bytes
    rest = b""
    while data:
        clean, rest = _cleaned(rest + recode(data))
        yield clean
        data = file.read(_CHUNK)
    yield _REFERENCE.sub(b"", rest)


def _as_utf8() -> Callable[[bytes], bytes]:
    """What is no UTF-8, though the report says so, becomes U+FFFD."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return lambda data: decoder.decode(data).encode()


def _from_start(data: bytes) -> bytes:
    match = _START.search(data)
    return data[match.start() :] if match else data


def _cleaned(data: bytes) -> tuple[bytes, bytes]:
    """Data without forbidden characters, and its end where a reference to one may be cut in two."""
    clean = data.translate(None, _DROPPED)
    at = clean.rfind(b"&", max(0, len(clean) - _LONGEST_REFERENCE))
    clean, rest = (clean, b"") if at < 0 else (clean[:at], clean[at:])
    return _REFERENCE.sub(b"", clean), rest


def _refuse_doctype(name: str, system_id: str | None, public_id: str | None, has_subset: bool) -> None:
    raise XmlCut(f"it declares a document type ({name}), which is refused")
