"""Which paths of a workspace count as source: globs, read once. What is on disk is not looked at here."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase, translate
from functools import cached_property

from agent_fox.core.values import dataclass


@dataclass(frozen=True, slots=True)
class SourceScope:
    """Globs over paths relative to the workspace, with forward slashes.

    Everything is source but what `exclude` names; of that, what `include` names or git has tracked is source still.
    A pattern without an inner slash (`*.pyc`, `target/`, `target/**`) holds at every depth, any other from the root.
    `**` stands for any number of folders. A pattern that ends in `/` or `/**` means a folder with all below it,
    and never a file of that name.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rules:
    """A scope made ready for many questions. Folders are asked for without a slash at the end."""

    scope: SourceScope

    @cached_property
    def _folders(self) -> re.Pattern[str]:
        return _any_of([_expression(glob) for glob in self.scope.exclude])

    @cached_property
    def _files(self) -> re.Pattern[str]:
        return _any_of([_expression(glob) for glob in self.scope.exclude if not _means_folder(glob)])

    @cached_property
    def _included(self) -> re.Pattern[str]:
        return _any_of(
            [_expression(glob) + ("/.*" if _means_folder(glob) else "(?:/.*)?") for glob in self.scope.include]
        )

    def excludes_folder(self, path: str) -> bool:
        return self._folders.fullmatch(path) is not None

    def excludes_file(self, path: str) -> bool:
        return self._files.fullmatch(path) is not None and not self.includes(path)

    def includes(self, path: str) -> bool:
        """Whether `include` names this file, or a folder above it."""
        return self._included.fullmatch(path) is not None

    def may_include_below(self, folder: str) -> bool:
        """Whether a file somewhere below this folder could be named by `include`."""
        return any(_may_lead_into(_segments(glob), folder.split("/")) for glob in self.scope.include)


def _means_folder(glob: str) -> bool:
    return glob.endswith(("/", "/**"))


def _segments(glob: str) -> list[str]:
    """The parts from the root on: `target/` is `**`, `target`."""
    parts = [part for part in glob.removeprefix("./").removesuffix("/**").split("/") if part]
    is_anchored = len(parts) > 1 or glob.startswith(("/", "./"))
    return parts if is_anchored else ["**", *parts]


def _expression(glob: str) -> str:
    *above, last = _segments(glob) or [""]
    folders = "".join("(?:.*/)?" if part == "**" else f"{_one(part)}/" for part in above)
    return folders + ("[^/]+(?:/.*)?" if last == "**" else _one(last))


def _one(part: str) -> str:
    """A regular expression for one part of a path; its wildcards stop at slashes."""
    inner = translate(part).removeprefix("(?s:").removesuffix(r")\Z")
    return inner.replace(".*", "[^/]*")


def _any_of(expressions: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(expressions) if expressions else r"(?!)", re.DOTALL)


def _may_lead_into(pattern: list[str], folders: list[str]) -> bool:
    for part, folder in zip(pattern, folders, strict=False):
        if part == "**":
            return True
        if not fnmatchcase(folder, part):
            return False
    return True
