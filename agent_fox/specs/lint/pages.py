"""The documents of a spec as the rules read them: raw lines, and Markdown. No rule is here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.specs.document import Markdown, read_markdown
from agent_fox.specs.files import TextFile, read_text_file

if TYPE_CHECKING:
    from agent_fox.core.spec import Spec


@dataclass(frozen=True)
class Page:
    """One document of a spec, by its name in the folder. Lines are numbered from 1, without their ends."""

    name: str
    file: TextFile

    @property
    def where(self) -> str:
        return self.file.where

    @cached_property
    def raw(self) -> list[str]:
        return self.file.text.split("\n")

    @cached_property
    def markdown(self) -> Markdown:
        """The page as Markdown; empty for a page of another kind."""
        return read_markdown(self.file) if self.name.endswith(".md") else Markdown(self.where, ())

    def at(self, number: int) -> str:
        return f"{self.where}:{number}"


def read_pages(spec: Spec, root: Path) -> Iterator[Page]:
    """Those documents that can be read; reading the spec reports what is wrong with the others."""
    for name, path in (spec.documents or _itself(spec)).items():
        read = read_text_file(root / path, root)
        if isinstance(read, TextFile):
            yield Page(name, read)


def _itself(spec: Spec) -> dict[str, str]:
    """A spec that is one file is its own document."""
    return {Path(spec.path).name: spec.path} if Path(spec.path).suffix else {}
