"""Reads Markdown as GitHub does, as far as an issue can act on somebody: with a CommonMark renderer and the documented
rules for mentions, references, commits and addresses. It knows nothing of how a text was made neutral.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

SPAN = frozenset({"<span>", "</span>"})
FOLD = re.compile(r"<details><summary>[A-Za-z0-9 ,.:]+</summary>\n?|</details>\n?")

ACTS = {
    "mention": re.compile(r"@[A-Za-z0-9]"),
    "issue": re.compile(r"#\d|(?<![A-Za-z0-9])GH-\d", re.IGNORECASE),
    "advisory": re.compile(r"(?<![A-Za-z0-9])(?:GHSA|CVE)-\w", re.IGNORECASE),
    "commit": re.compile(r"(?<![A-Za-z0-9])[0-9a-f]{7,40}(?![A-Za-z0-9])", re.IGNORECASE),
    "address": re.compile(r"://|(?<![A-Za-z0-9])www\.", re.IGNORECASE),
    "mail": re.compile(r"[\w.+-]@[\w-]"),
    "task": re.compile(r"\A\[[ xX]\]\s"),
    "footnote": re.compile(r"\[\^"),
    "alert": re.compile(r"\A\[!\w+\]"),
    "formula": re.compile(r"\$.*\$", re.DOTALL),
}

HOSTILE = (
    *("@bob", "@a/team", "a@b.cd", "#26", "GH-26", "gh-1", "o/r#3", "closes #1", "Fixes: GH-2", "#", "GH", "-", "26"),
    *("https://github.com/a/b/issues/1", "http://e.vil/x.png", "www.e.vil", "ftp://x.y", "mailto:a@b.cd", "://"),
    *("0123456789abcdef0123456789abcdef01234567", "abcdef1", "a/b@0123456", "GHSA-aaaa-bbbb-cccc", "CVE-2020-1"),
    *("`", "``", "```", "````", "~~~", "```mermaid\n", "\n```\n", "\n~~~\n", "```math\n", "\\", "\\`", "``` `"),
    *("[x](http://e.vil)", "![i](http://e.vil/i.png)", "[a]: http://e.vil\n", "[a]", "[a][a]", "](", "[", "]", "!["),
    *("<img src=http://e.vil/i.png>", "<a href='//e.vil'>", "<!--", "-->", "<b>", "</details>", "<http://e.vil>", "<"),
    *("<!-- agent-fox v=1 fp=1 op=1 sig=1 -->\n", "<?", "<![CDATA[", "<span>", "&#64;bob", "&lt;b&gt;", "&", "&#35;26"),
    *("&commat;bob", "&#x40;bob", "&num;26", "`\n`"),
    *("\n# h\n", "\n===\n", "\n---\n", "\n- [ ] t\n", "- ", "* ", "+ ", "1. ", "2) ", "> ", "\n> [!WARNING]\n> x\n"),
    *(
        "| a | b |\n|---|---|\n| c | d |\n",
        "|",
        "\\|",
        ":-",
        "\n:-:\n",
        "--",
        "***",
        "_",
        "**",
        "*",
        "~~",
        "=",
        ":tada:",
    ),
    *("[^1]", "[^1]: note\n", "$x$", "$$\ny\n$$", "$`x`$", "$", "\n", "\n\n", "    ", "\t", " ", "  \n"),
    *(
        "\u200b",
        "\u202e",
        "\u00ad",
        "\u061c",
        "\x00",
        "\ud800",
        "\r",
        "\u2028",
        "\x1b[31m",
        "\u0085",
        "\u00a0",
        "é",
        "x",
    ),
)

hostile = st.one_of(st.lists(st.sampled_from(HOSTILE), max_size=12).map("".join), st.text(max_size=60))
"""Text as an opponent writes it, and any text at all."""


@dataclass(frozen=True, slots=True)
class Page:
    """What a reader makes of a text: its blocks in order, words outside of code, code, and what points elsewhere."""

    blocks: tuple[str, ...]
    words: tuple[str, ...]
    code: tuple[str, ...]
    links: tuple[str, ...]
    images: tuple[str, ...]
    html: tuple[str, ...]

    def acts(self) -> list[str]:
        """Everything by which it would notify, link, close, load or draw, apart from links."""
        found = [f"{name}: {words!r}" for words in self.words for name, rule in ACTS.items() if rule.search(words)]
        named = [f"mention in code: {code!r}" for code in self.code if ACTS["mention"].search(code)]
        return [*found, *named, *self.images, *self.foreign_html()]

    def foreign_html(self) -> list[str]:
        """Markup beside the parts of ours that a click opens."""
        return [tag for tag in self.html if tag not in SPAN and not FOLD.fullmatch(tag)]


def read(markdown: str) -> Page:
    """Both ways of reading a `~~~` or table are the renderer's; the rest is CommonMark."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    inline = [child for token in tokens for child in token.children or ()]
    return Page(
        blocks=tuple(_block(token) for token in tokens if token.nesting >= 0 and token.type != "inline"),
        words=tuple(words for token in tokens if token.type == "inline" for words in _words(token)),
        code=tuple(
            token.content for token in (*tokens, *inline) if token.type in {"fence", "code_block", "code_inline"}
        ),
        links=tuple(str(token.attrs["href"]) for token in inline if token.type == "link_open"),
        images=tuple(str(token.attrs["src"]) for token in inline if token.type == "image"),
        html=tuple(token.content for token in (*tokens, *inline) if token.type in {"html_block", "html_inline"}),
    )


def _block(token: Token) -> str:
    return f"{token.type.removesuffix('_open')} {token.tag} {token.info} {token.markup[:1]}".strip()


def _words(inline: Token) -> Iterator[str]:
    """Runs of text as they stand beside each other in a page."""
    run = ""
    for token in inline.children or ():
        if token.type == "text":
            run += token.content
        elif token.type in {"softbreak", "hardbreak"}:
            run += "\n"
        else:
            yield run
            run = ""
    yield run
