"""A committed test that fails: both its versions, the reason that was stated, and what the person's history says: which
is older, the test or the requirement's text. What follows is in `core.expectations`.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.verdicts.expectations import Expectation, Seal, agreed_by, seal_of
from agent_fox.system import git
from agent_fox.system.files import content_in
from agent_fox.system.git import GitError
from agent_fox.verifier.policy.reasons import reason_for, sentences_of
from agent_fox.verifier.proof.sides import NOT_COPIED

if TYPE_CHECKING:
    from agent_fox.verifier.ground.cases import Case
    from agent_fox.verifier.ground.order import CheckOrder

LONGEST_VERSION = 3_000
"""Characters of a test's version that are shown; the hash is of all of it."""

LINES_AROUND = 3
MOST_COMMITS = 200
ABSENT = "absent"


def expectation_of(
    test: Case,
    own: Collection[str],
    changed: Iterable[str],
    test_files: Iterable[str],
    base: Path,
    tree: Path,
    stated: str,
) -> Expectation:
    """What was changed about a committed test that fails. `changed`: what of the test side differs from the base.

    `own`: names of the requirement's tests, before and now. `test_files`: files of tests; another one than the test's
    own decides nothing about it, nor does another test's body in it. `stated`: the coders' words.
    """
    others = {*test_files} - {test.file}
    files = tuple(sorted({test.file, *(path for path in changed if path not in others and _is_source(path))} - {""}))
    sentences = sentences_of(stated)
    reasons = (reason_for(sentences, path, test.id) for path in files)
    before, after = versions_shown(files, base, tree)
    committed, now = (digest_of(root, files, test.file, own) for root in (base, tree))
    return Expectation(test.id, files, committed, now, next(filter(None, reasons), ""), before, after)


def _is_source(path: str) -> bool:
    """Whether somebody wrote a file: what runs leave behind is another one after each run."""
    return NOT_COPIED.isdisjoint(PurePosixPath(path).parts) and not path.endswith(".pyc")


def sealed(order: CheckOrder, requirement: str, expectation: Expectation, by: str = "") -> Seal:
    """What it amounts to, by the settings, by who agreed to it (`by`), and by the history of the base."""
    text = order.expected.get(requirement, "")
    is_older = bool(expectation.reason and not by) and is_older_than_text(order, requirement, text, expectation.files)
    return seal_of(expectation, order.sealed, is_older=is_older, by=by, is_reviewed=order.is_reviewed)


def who_agreed(order: CheckOrder, requirement: str, expectation: Expectation, base: Path, tree: Path) -> str:
    """Who agreed to this change; empty where nobody did. Agreements were bound to whole files once, and still hold."""
    committed, now = (digest_of(root, expectation.files) for root in (base, tree))
    whole = replace(expectation, committed=committed, changed=now)
    return agreed_by(expectation, requirement, order.agreed) or agreed_by(whole, requirement, order.agreed)


def digest_of(root: Path, files: Iterable[str], in_part: str = "", own: Collection[str] = ()) -> str:
    """SHA-256 of what stands in these files, with their paths; in hex. `in_part`: the one of which only what decides
    about its `own` tests is taken.
    """
    whole = hashlib.sha256()
    for path in files:
        content = content_in(root, path)
        if content is not None and path == in_part:
            content = deciding(path, content, own)
        part = hashlib.sha256(content).hexdigest() if content is not None else ABSENT
        whole.update(f"{part} {path}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def versions_shown(files: Iterable[str], base: Path, tree: Path) -> tuple[str, str]:
    """The lines that differ, with a few around them, as they were committed and as they are; each bounded."""
    pairs = [(path, _lines(base, path), _lines(tree, path)) for path in files]
    differing = [(path, *_differing(before, after)) for path, before, after in pairs if before != after]
    before, after = ([(path, pair[side]) for path, *pair in differing] for side in (0, 1))
    return _shown(before), _shown(after)


def _shown(parts: Iterable[tuple[str, list[str]]]) -> str:
    text = "\n".join("\n".join((f"--- {path}", *lines)) for path, lines in parts)
    return text if len(text) <= LONGEST_VERSION else f"{text[: LONGEST_VERSION - 4].rstrip()} ..."


def _differing(before: list[str] | None, after: list[str] | None) -> tuple[list[str], list[str]]:
    """What is left of both without the lines that they begin and end with alike, but for LINES_AROUND of these."""
    if before is None or after is None:
        return before if before is not None else ["(not there)"], after if after is not None else ["(not there)"]
    head = _alike(before, after)
    tail = _alike(before[head:][::-1], after[head:][::-1])
    begin, left = max(head - LINES_AROUND, 0), max(tail - LINES_AROUND, 0)
    return before[begin : len(before) - left], after[begin : len(after) - left]


def _alike(one: list[str], other: list[str]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _lines(root: Path, path: str) -> list[str] | None:
    content = content_in(root, path)
    return None if content is None else content.decode("utf-8", "replace").splitlines()


def is_older_than_text(order: CheckOrder, requirement: str, text: str, files: Iterable[str]) -> bool:
    """Whether the person's history changed the requirement's text after it last changed these files.

    False where the history does not show both.
    """
    spec_file = order.spec_files.get(requirement, "")
    if not (spec_file and order.repository and order.base_commit):
        return False
    with suppress(GitError):
        repository = Path(order.repository)
        written = commit_of_text(repository, order.base_commit, spec_file, text)
        changed = [commit for path in files if (commit := _last_change(repository, order.base_commit, path))]
        before = f"{written}^"
        return bool(written and changed) and all(git.is_ancestor(repository, commit, before) for commit in changed)
    return False


def commit_of_text(repository: Path, tip: str, path: str, text: str) -> str:
    """The commit that wrote a text as it stands at `tip`, empty where that is unknown. Raises GitError."""
    wanted, last_commit = _words(text), ""
    for commit, place in _history(repository, tip, path):
        content = git.show(repository, commit, place)
        if content is None or wanted not in _words(content.decode("utf-8", "replace")):
            break
        last_commit = commit
    return last_commit if wanted.strip() else ""


def _history(repository: Path, tip: str, path: str) -> Iterator[tuple[str, str]]:
    """The commits that changed a file, newest first, with its path in each: it may have been moved."""
    words = ("log", "--follow", "-m", "--first-parent", f"--max-count={MOST_COMMITS}", "--format=%x00%H", "--name-only")
    answer = git.call(repository, *words, tip, "--", path, allowed=(0, 128))
    for record in answer.records:
        commit, *names = [line for line in record.splitlines() if line]
        yield commit, names[-1] if names else path


def _last_change(repository: Path, tip: str, path: str) -> str:
    return git.call(repository, "log", "-1", "--format=%H", tip, "--", path, allowed=(0, 128)).text


def _words(text: str) -> str:
    """A text without marks and line breaks, which say nothing: ` word word `."""
    words = re.findall(r"[^\W_]+", text.lower())
    return f" {' '.join(words)} "


def explained(seal: Seal, expectation: Expectation, failed: str) -> str:
    """One test's story in words, for evidence. `failed`: how the committed test fails."""
    how = f"the committed test {expectation.test} fails: {failed}"
    reason = f"the reason that was stated: {expectation.reason}" if expectation.reason else "no reason was stated"
    return f"{how}; {reason}" if seal is not Seal.REPORTED else f"{how}; {reason}; nothing follows by [verify] sealed"


Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_REACHING = frozenset({"globals", "setattr", "delattr", "vars", "exec", "eval", "sys", "importlib", "gc", "inspect"})


def deciding(path: str, content: bytes, own: Collection[str]) -> bytes:
    """The content without the bodies of tests that are not `own` (names of functions); as it is where it is no Python,
    or cannot be parsed.
    """
    if not path.endswith(".py"):
        return content
    try:
        module = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return content
    lines = content.splitlines(keepends=True)
    for first, last in _others(module, own):
        lines[first - 1 : last] = [b""] * (last - first + 1)
    return b"".join(lines)


def _others(module: ast.Module, own: Collection[str]) -> Iterator[tuple[int, int]]:
    """The lines of each body that decides nothing about the others: what stands around it (decorators, defaults) runs
    when the file is imported, and stays.
    """
    variables = _variables(module)
    inside = [part for node in module.body if isinstance(node, ast.ClassDef) for part in node.body]
    for node in (*module.body, *inside):
        if not isinstance(node, Function) or not node.name.startswith("test") or node.name in own:
            continue
        first = node.body[0].lineno
        if first > _header_end(node) and not _reaches_out(node, variables):
            yield first, node.body[-1].end_lineno or first


def _header_end(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The last line that the signature stands on; a body beside it is kept."""
    parts = [part for part in ast.walk(node.args) if isinstance(part, ast.expr | ast.arg)]
    ends = [part.end_lineno or part.lineno for part in (*parts, *filter(None, [node.returns]))]
    return max([node.lineno, *ends])


def _reaches_out(node: ast.FunctionDef | ast.AsyncFunctionDef, variables: Collection[str]) -> bool:
    """Whether a test's body may change what other tests of the file see: data of the module, or an attribute of
    something. What it does to the product by calling it, tests of other files can do as well.
    """
    for part in (inner for statement in node.body for inner in ast.walk(statement)):
        match part:
            case ast.Global() | ast.Nonlocal():
                return True
            case ast.Name(id=name) if name in _REACHING or name in variables:
                return True
            case ast.Attribute(attr=name) if name.startswith("__"):
                return True
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                return True
    return False


def _variables(module: ast.Module) -> frozenset[str]:
    """Names that hold data of the module, which a test may change."""
    outside = (node for node in module.body if not isinstance(node, (*Function, ast.ClassDef)))
    stored = (part for node in outside for part in ast.walk(node) if isinstance(part, ast.Name))
    return frozenset(part.id for part in stored if isinstance(part.ctx, ast.Store))
