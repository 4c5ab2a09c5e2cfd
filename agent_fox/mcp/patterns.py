"""Known failures by tool: what to look for, what it usually means and what helps. The patterns are data files."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, Field

from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.registry import canonical

FOLDER = "known_failures"


class KnownFailure(BaseModel, defer_build=True):
    """One pattern. `sign` is what a log shows."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: FailureKind
    sign: str = Field(min_length=1)
    means: str = Field(min_length=1)
    helps: str = Field(min_length=1)


class KnownFailures(BaseModel, defer_build=True):
    """The patterns of tools that fail alike. `tools` are words of the log parsers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tools: tuple[str, ...] = Field(min_length=1)
    title: str
    failures: tuple[KnownFailure, ...] = Field(min_length=1)

    def as_markdown(self) -> str:
        """For a model to read."""
        return "\n".join([f"# Known failures: {self.title}", *(_section(failure) for failure in self.failures)])


def words() -> tuple[str, ...]:
    """Every tool that has patterns."""
    return tuple(sorted(word for known in _all() for word in known.tools))


def known_failures(tool: str) -> KnownFailures | None:
    """The patterns of a tool, by any word for it."""
    word = canonical(tool)
    return next((known for known in _all() if word in known.tools), None)


@cache
def _all() -> tuple[KnownFailures, ...]:
    return tuple(_read())


def _read() -> Iterator[KnownFailures]:
    folder = files("agent_fox.mcp") / FOLDER
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".toml"):
            yield KnownFailures.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))


def _section(failure: KnownFailure) -> str:
    return f"\n## {failure.sign}\n\nKind: {failure.kind}. {failure.means}\n\nWhat helps: {failure.helps}"
