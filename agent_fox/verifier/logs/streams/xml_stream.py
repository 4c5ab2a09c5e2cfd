"""Feeding an XML report to a reader, element by element, in flat memory. Document types and entities are refused."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO, Protocol
from xml.parsers import expat

from agent_fox.core.regex import regex
from agent_fox.verifier.logs.parsers import Cut

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
    """Passes over elements that it knows by their bytes alone, by what each begins with, and counts them itself."""

    @property
    def opening(self) -> bytes: ...
    def skip(self, data: bytes, at: int) -> int:
        """Where the first byte stands that has to be read. At `at` the content of an element goes on, in UTF-8."""


def read_xml(file: BinaryIO, reader: XmlReader) -> None:
    """Give `reader` the first document in `file`. Raises XmlCut; the reader has seen what came before."""
    for _ in feed_xml(file, reader):
        pass


def feed_xml(file: BinaryIO, reader: XmlReader, skipper: XmlSkipper | None = None) -> Iterator[None]:
    """Give `reader` the first document in `file`, but for what `skipper` passes over, and stop after each chunk of it.

    Lines before it are skipped, and whatever follows it. Characters that XML forbids are left out, as reports of real
    tools hold them. Raises XmlCut; the reader has seen what came before.
    """
    feeder, cut = _Feeder(reader), None
    try:
        for data in _clean_chunks(file):
            feeder.feed(data, skipper)
            yield
        feeder.close()
    except XmlCut as error:
        cut = error
    except expat.ExpatError as error:
        cut = XmlCut(f"it is cut off or is no XML: {error}") if error.code != _MORE_AFTER_END else None
    yield
    if cut:
        raise cut


class _Feeder:
    """Feeds the parser, and knows where it stands in the document."""

    def __init__(self, reader: XmlReader) -> None:
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
        parser.CharacterDataHandler = reader.characters
        parser.StartDoctypeDeclHandler, parser.XmlDeclHandler = _refuse_doctype, self._declare
        parser.StartCdataSectionHandler = partial(setattr, self, "_is_cdata", True)
        parser.EndCdataSectionHandler = partial(setattr, self, "_is_cdata", False)
        self._fed = 0
        self._is_utf8 = True
        self._is_cdata = False

    def feed(self, data: bytes, skipper: XmlSkipper | None) -> None:
        """Give the parser `data`, but for what `skipper` passes over where all before it was understood: where no tag,
        comment or CDATA section is open."""
        begin = at = 0
        while skipper and (at := data.find(skipper.opening, at)) >= 0:
            self._parse(data[begin:at])
            is_between = self._is_utf8 and not self._is_cdata and self._parser.CurrentByteIndex == self._fed
            begin = skipper.skip(data, at) if is_between else at
            at = max(begin, at + 1)
        self._parse(data[begin:])
        if self._fed - self._parser.CurrentByteIndex > LARGEST_PART:
            raise XmlCut("one of its tags is larger than a report's")

    def close(self) -> None:
        self._parser.Parse(b"", True)

    def _parse(self, data: bytes) -> None:
        self._parser.Parse(data, False)
        self._fed += len(data)

    def _declare(self, version: str, encoding: str | None, standalone: int) -> None:
        self._is_utf8 = encoding is None or encoding.lower() in _UTF8


def _refuse_doctype(name: str, system_id: str | None, public_id: str | None, has_subset: bool) -> None:
    raise XmlCut(f"it declares a document type ({name}), which is refused")


def _clean_chunks(file: BinaryIO) -> Iterator[bytes]:
    """The document's bytes, from its start on, without what XML forbids; what is no UTF-8 is U+FFFD."""
    first = file.read(_CHUNK)
    if first[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in first[:4]:  # 16 bits a letter: as it is
        yield first
        yield from iter(lambda: file.read(_CHUNK), b"")
        return
    start = _START.search(first)
    data = first[start.start() :] if start else first
    encoding, decoder = _ENCODING.match(data), codecs.getincrementaldecoder("utf-8")("replace")
    is_utf8 = encoding is None or encoding[1].decode().lower() in _UTF8
    rest = b""
    while data:
        clean = rest + (decoder.decode(data).encode() if is_utf8 else data)
        clean = clean.translate(None, _DROPPED)
        cut = clean.rfind(b"&", max(0, len(clean) - _LONGEST_REFERENCE))  # it may go on in the next chunk
        clean, rest = (clean, b"") if cut < 0 else (clean[:cut], clean[cut:])
        yield _REFERENCE.sub(b"", clean)
        data = file.read(_CHUNK)
    yield _REFERENCE.sub(b"", rest)
