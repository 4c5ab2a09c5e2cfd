"""What git is told to hide beside the rules that are committed: nobody sees such files in a change. Git is asked by
whoever calls; no setting of the files that are looked at counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from agent_fox.core.regex import regex

Ask = Callable[[tuple[str, ...], bytes], bytes]
"""Runs git in the files that are looked at: arguments and standard input to what it prints."""

NAME = ".gitignore"
CACHES = regex(
    r"(?:.*/)?(?:__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.hypothesis|node_modules|\.venv|venv|\.tox|\.nox"
    r"|\.gradle)/.*|(?:.*/)?(?:\.DS_Store|\.coverage)|\.agent-fox/\.gitignore",
    re.DOTALL,
)
"""What tools leave, and the list that a run without `init` writes: counted where it is hidden, and no part of a
change."""

OWN_STATE = regex(r"\.agent-fox/(?:state\.db.*|(?:logs|issues|verification)/.*|crash\.log|run\.lock)", re.DOTALL)
"""What we write ourselves. The rest of our folder is a person's: settings and specs say what is judged, and how."""

_SPECIAL = regex(r"[\\*?\[\]!# ]")


def hidden(ask: Ask, tree: str, scratch: Path) -> frozenset[str]:
    """Untracked files that git hides, and that the `.gitignore` files of `tree` do not hide. `DIR/` is a repository.

    `scratch`: a folder for the rules of the tree. The index tells what is tracked.
    """
    rules = scratch / "committed-ignores"
    rules.write_bytes(committed_rules(ask, tree))
    others = _fields(ask(("ls-files", "--others", f"--exclude-from={rules}", "-z"), b""))
    seen = _fields(ask(("ls-files", "--others", "--exclude-standard", "-z"), b""))
    return frozenset(others) - frozenset(seen)


def committed_rules(ask: Ask, tree: str) -> bytes:
    """The rules of every `.gitignore` of a tree as one list: the deepest folder's last, as they hold."""
    entries = (line.split("\t", 1) for line in _fields(ask(("ls-tree", "-r", "-z", tree), b"")))
    files = [(path, facts.split(" ")[2]) for facts, path in entries if path.rpartition("/")[2] == NAME]
    lines: list[str] = []
    for path, blob in sorted(files, key=lambda one: one[0].count("/")):
        text = ask(("cat-file", "blob", blob), b"").decode("utf-8", "surrogateescape")
        lines += as_of(path.rpartition("/")[0], text.splitlines())
    return "\n".join((*lines, "")).encode("utf-8", "surrogateescape")


def as_of(folder: str, rules: Iterable[str]) -> Iterator[str]:
    """Rules of the `.gitignore` in a folder, as rules of the root."""
    for rule in rules:
        if not rule.strip() or rule.startswith("#"):
            continue
        sign, pattern = ("!", rule[1:]) if rule.startswith("!") else ("", rule)
        place = _SPECIAL.sub(r"\\\g<0>", folder)
        if not folder:
            yield rule
        elif "/" in pattern.rstrip().rstrip("/"):
            yield f"{sign}/{place}/{pattern.lstrip('/')}"
        else:
            yield f"{sign}/{place}/**/{pattern}"


def is_of_tools(path: str) -> bool:
    return CACHES.fullmatch(path) is not None or OWN_STATE.fullmatch(path) is not None


def _fields(answer: bytes) -> list[str]:
    return [field.decode("utf-8", "surrogateescape") for field in answer.split(b"\0") if field]
