"""XML is read as a stream; hostile documents are refused, and harmless faults of real tools forgiven."""

from __future__ import annotations

import io
import tracemalloc

import pytest

from agent_fox.verifier.logs.streams.xml_stream import LARGEST_PART, XmlCut, read_xml


class Seen:
    """Writes down what it gets."""

    def __init__(self) -> None:
        self.tags: list[str] = []
        self.text = ""
        self.attributes: dict[str, str] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.tags.append(tag)
        self.attributes |= attributes

    def characters(self, text: str) -> None:
        self.text += text

    def end(self, tag: str) -> None:
        self.tags.append(f"/{tag}")


def read(data: bytes) -> Seen:
    seen = Seen()
    read_xml(io.BytesIO(data), seen)
    return seen


def test_elements_come_in_their_order() -> None:
    assert read(b"<a x='1'><b>t</b></a>").tags == ["a", "b", "/b", "/a"]


def test_lines_around_the_document_do_not_matter() -> None:
    seen = read(b"> npm test\n> node --test\n\n<?xml version='1.0'?><a>t</a>\nnpm ERR! <b>\n")
    assert (seen.tags, seen.text) == (["a", "/a"], "t")


@pytest.mark.parametrize("reference", [b"\x1b[31m", b"&#27;[31m", b"&#x1B;[31m", b"&#0;[31m", b"\x00[31m"])
def test_characters_that_xml_forbids_are_left_out(reference: bytes) -> None:
    assert read(b"<a>red " + reference + b"</a>").text == "red [31m"


def test_a_forbidden_reference_torn_by_a_chunk_is_left_out() -> None:
    for shift in range(14):
        assert read(b"<a>" + b"x" * ((1 << 16) - 10 - shift) + b"&#x1b;y</a>").text.endswith("xy")


def test_what_is_no_utf_8_though_it_says_so_is_read() -> None:
    assert read("<a>größer</a>".encode("latin-1")).text == "gr\ufffd\ufffder"
    assert read("<?xml version='1.0' encoding='ISO-8859-1'?><a>größer</a>".encode("latin-1")).text == "größer"
    assert read("<?xml version='1.0' encoding='windows-1252'?><a>„größer“</a>".encode("cp1252")).text == "„größer“"
    assert read("<a>größer</a>".encode("utf-16")).text == "größer"


BOMB = b'<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>'
REACHES_OUT = b'<!DOCTYPE a [<!ENTITY f SYSTEM "file:///etc/passwd">]><a>&f;</a>'


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (BOMB, "document type"),
        (REACHES_OUT, "document type"),
        (b"<a>&undefined;</a>", "undefined entity"),
        (b"<a><b>", "cut off"),
        (b"<a", "cut off"),
        (b"", "cut off"),
        (b"words", "cut off"),
        (b"<a x='" + b"x" * (2 * LARGEST_PART) + b"'/>", "larger"),
    ],
)
def test_a_hostile_or_broken_document_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(XmlCut, match=reason):
        read(data)


def test_memory_does_not_grow_with_the_document() -> None:
    class Deaf(Seen):
        def start(self, tag: str, attributes: dict[str, str]) -> None: ...
        def characters(self, text: str) -> None: ...
        def end(self, tag: str) -> None: ...

    data = b"<a>" + b"<b c='d'>some text</b>\n" * 200_000 + b"</a>"
    tracemalloc.start()
    read_xml(io.BytesIO(data), Deaf())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000
