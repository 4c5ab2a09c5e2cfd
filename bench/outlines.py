"""Markdown as blocks: our outline beside parsers of the standard, over documents of 1 MB, one after the other (ADR 70).

tree-sitter's grammar for Markdown is no dependency; it is measured where it is installed beside: `PYTHONPATH=FOLDER`.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec

from markdown_it import MarkdownIt

from agent_fox.specs.outline import outline
from bench.figures import Figure
from bench.memory import peak_kilobytes
from tests.specs.made.forms import FORMS, made_by

ONE_DOCUMENT = 1_000_000
_GRAMMAR = "tree_sitter_markdown"


def made_document(size: int) -> str:
    """Made specs of every dialect that is written in Markdown, one after the other, of so many characters."""
    texts: list[str] = []
    seed = 0
    while sum(map(len, texts)) < size:
        for form in FORMS:
            files = made_by(form, seed).files
            texts += [content.decode() for name, content in files.items() if name.endswith(".md")]
        seed += 1
    return "\n\n".join(texts)[:size]


def _tree_sitter() -> Callable[[str], object]:
    """Its blocks alone: what stands within a line takes another grammar, and time again."""
    tree_sitter, grammar = import_module("tree_sitter"), import_module(_GRAMMAR)
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))

    def blocks(text: str) -> int:
        tree, count = parser.parse(text.encode()), 0
        waiting = [tree.root_node]
        while waiting:
            count += 1
            waiting += waiting.pop().named_children
        return count

    return blocks


PARSERS: dict[str, Callable[[], Callable[[str], object]]] = {
    "lines alone": lambda: str.splitlines,
    "our outline": lambda: outline,
    "markdown-it-py": lambda: MarkdownIt("commonmark").enable("table").parse,
    "tree-sitter-markdown": _tree_sitter,
}


def measure_outlines(size: int) -> Iterator[Figure]:
    """Seconds and memory of each parser, beside splitting the same documents into lines."""
    floor, least = _taken("lines alone", size)
    for name in PARSERS:
        if name == "lines alone" or (name.startswith("tree") and find_spec(_GRAMMAR) is None):
            continue
        took, kilobytes = _taken(name, size)
        yield Figure(f"{size / 1e6:g} MB of Markdown, {name}", took, floor, "splitting lines")
        yield Figure(f"memory over 1 MB of it, {name}", kilobytes / 1000, least / 1000, "its lines", unit="MB")


def _taken(name: str, size: int) -> tuple[float, int]:
    """Seconds of the processor, and kilobytes at the most, of a process of its own."""
    command = [sys.executable, "-m", "bench.outlines", name, str(size)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    took, kilobytes = done.stdout.split()
    return float(took), int(kilobytes)


def main() -> None:
    name, size = sys.argv[1], int(sys.argv[2])
    text, parse = made_document(min(size, ONE_DOCUMENT)), PARSERS[name]()
    began = time.process_time()
    for _ in range(max(1, size // ONE_DOCUMENT)):
        parse(text)
    print(time.process_time() - began, peak_kilobytes())


if __name__ == "__main__":
    main()
