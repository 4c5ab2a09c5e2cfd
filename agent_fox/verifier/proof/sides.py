"""The test side of a project, and trees that have the test side of one commit and the product of another.

Source of the rule: `docs/proof.md`, "Words".
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path, PurePosixPath

from agent_fox.core.regex import regex
from agent_fox.system.files import content_in
from agent_fox.verifier.mutants.sites import Unreadable
from agent_fox.verifier.policy.configuration_rules import BadSettings, settings_of
from agent_fox.verifier.policy.discovery import belongs_to_tests
from agent_fox.verifier.policy.file_rules import is_golden
from agent_fox.verifier.source.base_tree import BORROWED

_RUST = "agent_fox.verifier.mutants.compiled_sites"
_SETTINGS = regex(
    r"(?:pytest|\.pytest|tox)\.ini|conftest\.py|\.coveragerc"
    r"|(?:jest|vitest|vitest\.workspace|playwright|karma|ava)\.config\.\w+|\.mocharc(?:\.\w+)?|\.babelrc|babel\.config\.\w+"
)
_MIXED = {
    "pyproject.toml": ("tool.pytest.",),
    "setup.cfg": ("tool:pytest.",),
    "package.json": ("scripts.test", "scripts.pretest", "scripts.posttest", "jest.", "vitest.", "mocha.", "ava."),
}
"""Files of which only some settings are test side."""

_CACHES = frozenset({"__pycache__", ".pytest_cache", ".hypothesis", ".mypy_cache", ".ruff_cache"})
NOT_COPIED = _CACHES | {*BORROWED}


def files_of(root: Path) -> frozenset[str]:
    """All files of a tree, installed packages and what builds leave set apart."""
    paths = set()
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in NOT_COPIED and name not in ("target", ".git")]
        paths |= {Path(folder, name).relative_to(root).as_posix() for name in files}
    return frozenset(paths)


def has_test_settings(name: str) -> bool:
    """Whether a file of this name says how tests are run, or has settings of tests among others."""
    return bool(_SETTINGS.fullmatch(name)) or name in _MIXED


def is_test_side(path: str) -> bool:
    """Whether a file is a test, or what tests are made from: helpers, fixtures, snapshots, golden data, settings."""
    return belongs_to_tests(path) or is_golden(path) or bool(_SETTINGS.fullmatch(PurePosixPath(path).name))


def is_made_by_tools(path: str) -> bool:
    """Whether a file is what a tool keeps of others for itself, such as compiled ones: it tells nothing that they do
    not, and no two checkouts have the same.
    """
    return not _CACHES.isdisjoint(PurePosixPath(path).parts) or path.endswith(".pyc")


def differing(paths: Iterable[str], base: Path, tree: Path) -> tuple[str, ...]:
    """Those of `paths` that are test side, of files that are only in part where that part differs."""
    return tuple(path for path in paths if is_test_side(path) or _differs_in_part(path, base, tree))


def is_rust_product(path: str) -> bool:
    """Whether it is a file of Rust's product, which may have tests inside."""
    return path.endswith(".rs") and not is_test_side(path)


def inline_tests(root: Path, path: str) -> str:
    """What a file of Rust's product has for tests alone; empty for other files, and for what cannot be read."""
    return _parted(root, path)[1]


def is_inline_test(root: Path, path: str, line: int) -> bool:
    """Whether a line of a file of Rust's product, from 1, stands in what it has for tests alone."""
    content = content_in(root, path) if is_rust_product(path) else None
    try:
        return content is not None and bool(import_module(_RUST).is_for_tests(content.decode("utf-8", "replace"), line))
    except (Unreadable, ImportError):
        return False


def with_inline_tests(product: Path, tests: Path, path: str) -> bytes | None:
    """A file of Rust's product in one tree, with what another tree's has for tests alone. None for a file that is not
    in both; for one that cannot be read, as it stands.
    """
    content = content_in(product, path)
    if content is None or content_in(tests, path) is None:
        return content
    return "\n".join((_parted(product, path)[0], _parted(tests, path)[1])).encode()


def _parted(root: Path, path: str) -> tuple[str, str]:
    """The product's part of a file, and that of its inline tests."""
    content = content_in(root, path) if is_rust_product(path) else None
    text = (content or b"").decode("utf-8", "surrogateescape")
    if "test" not in text:
        return text, ""
    try:
        parts: tuple[str, str] = import_module(_RUST).inline_tests(text)
    except (Unreadable, ImportError):
        return text, ""
    return parts


def _differs_in_part(path: str, one: Path, other: Path) -> bool:
    if is_rust_product(path):
        return inline_tests(one, path) != inline_tests(other, path)
    keys = _MIXED.get(PurePosixPath(path).name)
    return keys is not None and _of_tests(one / path, keys) != _of_tests(other / path, keys)


def _of_tests(file: Path, keys: tuple[str, ...]) -> dict[str, tuple[str, ...]] | None:
    try:
        settings = settings_of(file.name, file.read_text("utf-8", "replace"))
    except (OSError, BadSettings):
        return None
    return {name: value for name, value in settings.items() if name.startswith(keys)}


def copied(source: Path, target: Path, leaving_out: Iterable[str] = ()) -> tuple[Path, ...]:
    """A copy of a tree that may be changed, in a folder that is missing or empty. Installed dependencies are lent;
    where they lie is returned.
    """
    shutil.copytree(source, target, symlinks=True, ignore=_left_out(source), dirs_exist_ok=True)
    for path in leaving_out:
        (target / path).unlink(missing_ok=True)
    return tuple(_lent(source, target))


def made_by_tests(root: Path, was_there: frozenset[str] | None) -> tuple[str, ...]:
    """Files of the test side that a reading left in its workspace: what a test wrote is no expectation of anybody.

    What builds leave is no test side, and stays: later commands rest on it.
    """
    made = files_of(root) - was_there if was_there is not None else ()
    return tuple(sorted(path for path in made if is_test_side(path)))


Stamp = tuple[int, int, int]
"""What changes when a file is written, even with the same contents, and that no program can set."""


def stamps_of_tests(root: Path, paths: Iterable[str]) -> dict[str, Stamp]:
    """Those of the paths that are test side, each with its stamp."""
    return {path: stamp for path in paths if is_test_side(path) and (stamp := _stamp(root / path)) is not None}


def rewritten(root: Path, before: Mapping[str, Stamp]) -> frozenset[str]:
    """The files that had these stamps, and have others by now."""
    return frozenset(path for path, stamp in before.items() if _stamp(root / path) != stamp)


def _stamp(path: Path) -> Stamp | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_ctime_ns


def _left_out(source: Path) -> Callable[[str, list[str]], set[str]]:
    def choose(folder: str, names: list[str]) -> set[str]:
        return {name for name in names if name in NOT_COPIED or (name == ".git" and Path(folder) == source)}

    return choose


def _lent(source: Path, target: Path) -> Iterator[Path]:
    for name in BORROWED:
        if (source / name).exists():
            (target / name).symlink_to((source / name).resolve())
            yield (source / name).resolve()
