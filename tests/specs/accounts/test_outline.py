"""The blocks of a document are those that markdown-it-py finds; what people write besides is taken as they mean it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agent_fox.specs.outline import Block, Kind, outline

REFERENCE = MarkdownIt("commonmark").enable("table")
OPENS = {"list_item_open": "item", "blockquote_open": "quote", "fence": "fence", "hr": "rule", "paragraph_open": "text"}
WORDS = st.lists(st.sampled_from(["the", "lock", "SHALL", "close", "鍵", "`x`", "a_b", "1.5"]), min_size=1, max_size=4)


def indented(text: str, width: int) -> str:
    return "\n".join(" " * width + line if line else "" for line in text.split("\n"))


@st.composite
def items(draw: st.DrawFn, blocks: st.SearchStrategy[str]) -> str:
    """A list: one mark for all of its items, each with a text and, below it, blocks that belong to it."""
    mark = draw(st.sampled_from(["-", "*", "+", "1.", "2)"]))
    width = len(mark) + 1
    found = []
    for _ in range(draw(st.integers(1, 3))):
        box = draw(st.sampled_from(["", "", "[ ] ", "[x] "]))
        text = f"{mark} {box}{' '.join(draw(WORDS))}"
        inner = draw(st.lists(blocks, max_size=2))
        found.append("\n\n".join([text, *(indented(block, width) for block in inner)]))
    return "\n".join(found)


PARAGRAPH = st.lists(WORDS.map(" ".join), min_size=1, max_size=3).map("\n".join)
HEADING = st.tuples(st.integers(1, 6), WORDS).map(lambda found: f"{'#' * found[0]} {' '.join(found[1])}")
UNDERLINED = st.tuples(st.sampled_from(["===", "-----"]), WORDS).map(lambda one: f"Title {' '.join(one[1])}\n{one[0]}")
FENCE = st.tuples(st.sampled_from(["```", "~~~~"]), PARAGRAPH).map(lambda one: f"{one[0]}\n- {one[1]}\n{one[0]}")
TABLE = st.lists(WORDS, min_size=1, max_size=3).map(
    lambda rows: "\n".join(["| a | b |", "|---|---|", *(f"| {' '.join(row)} | x |" for row in rows)])
)
RULE = st.just("***")
FLAT = st.one_of(PARAGRAPH, FENCE, TABLE)


def nested(blocks: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    quote = blocks.map(lambda text: "\n".join(f"> {line}" for line in text.split("\n")))
    return st.one_of(items(blocks), quote)


INNER = st.recursive(FLAT, nested, max_leaves=6)
DOCUMENT = st.lists(st.one_of(INNER, HEADING, UNDERLINED, RULE), min_size=1, max_size=6).map("\n\n".join)


def reference(text: str) -> list[tuple[int, str, int]]:
    """Line, kind and depth in items of what markdown-it-py finds."""
    found, depth, is_body = [], 0, False
    for token in REFERENCE.parse(text):
        line = token.map[0] + 1 if token.map else 0
        is_body = token.type == "tbody_open" or (is_body and token.type != "tbody_close")
        if token.type == "heading_open":
            found.append((line, f"heading {token.tag[1]}", depth))
        elif token.type in OPENS and not token.hidden:
            found.append((line, OPENS[token.type], depth))
        elif token.type == "tr_open" and is_body:
            found.append((line, "row", depth))
        depth += (token.type == "list_item_open") - (token.type == "list_item_close")
    return sorted(one for one in found if one[1] != "text")


def ours(text: str) -> list[tuple[int, str, int]]:
    found = []
    for block, above in outline(text).walk():
        depth = sum(one.kind is Kind.ITEM for one in above)
        if block.kind is Kind.HEADING:
            found.append((block.line, f"heading {block.level}", depth))
        elif block.kind.value in {*OPENS.values(), "row"} and not (block.kind is Kind.ROW and block.level == 0):
            found.append((block.line, block.kind.value, depth))
    return sorted(found)


@given(DOCUMENT)
@settings(deadline=None, max_examples=150)
def test_the_blocks_are_those_that_a_parser_of_the_standard_finds(text: str) -> None:
    assert ours(text) == reference(text)


@given(st.text(alphabet="-*+#>|`~=_1.)[ ]x\n\tab<!", max_size=200))
@settings(deadline=None, max_examples=150)
def test_any_text_has_an_outline_whose_blocks_stand_in_its_lines(text: str) -> None:
    last = text.count("\n") + 1
    for block, above in outline(text).walk():
        assert 1 <= block.line <= block.end <= last
        assert all(one.line <= block.line and block.end <= one.end for one in above)


def told(text: str) -> Iterator[tuple[str, int, str]]:
    return ((block.kind.value, block.line, block.text) for block, _ in outline(text).walk())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("\ufeff# A", ("heading", 1, "A")),
        ("**Requirement 1: A**\n\ntext", ("heading", 1, "Requirement 1: A")),
        ("a\n\n**2.** b", ("item", 3, "b")),
        ("-\ta\n\t-\tb", ("item", 2, "b")),
        ("1. a\n  - b", ("item", 2, "b")),
        ("---\nmust: x\n---\n# A", ("front matter", 1, "must: x")),
        ("| a |\n|---|\n| b \\| c |", ("row", 3, "| b \\| c |")),
        ("```\n- a", ("item", 2, "a")),
        ("```\na\n```\nb", ("paragraph", 4, "b")),
        ("- [x]* a", ("item", 1, "a")),
        ("<p>a</p>\n<b>", ("html", 1, "<p>a</p>\n<b>")),
        ("> > - a", ("item", 1, "a")),
    ],
)
def test_what_people_write_is_taken_as_it_is_meant(text: str, wanted: tuple[str, int, str]) -> None:
    assert wanted in list(told(text))


def test_cells_and_boxes_are_told_apart() -> None:
    blocks = [block for block, _ in outline("| a |\n|---|\n| b \\| c | d |\n\n- [x] e\n- [f](g)\n- [ ] h").walk()]
    assert [block.cells for block in blocks if block.kind is Kind.ROW] == [("a",), ("b | c", "d")]
    assert [(block.box, block.text) for block in blocks if block.kind is Kind.ITEM] == [
        ("x", "e"),
        (None, "[f](g)"),
        (" ", "h"),
    ]


def test_a_heading_holds_its_section() -> None:
    first, second = outline("# A\n\n## B\n- c\n\n# D\n").children
    assert (first.line, first.end, second.line) == (1, 4, 6)
    assert [block.text for block, _ in Block.walk(first)] == ["B", "c"]
