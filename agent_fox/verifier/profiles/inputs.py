"""Checking what a client names: modules and tests. Whatever is let through can be no option, no path outside, no code.

Each runner's way of naming a test has its own grammar, and is known by `SelectorKind`. Nothing here starts anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeVar

from agent_fox.core.late import late_module
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.request import Refused
from agent_fox.verifier.profiles.model import SelectorKind

if TYPE_CHECKING:
    from agent_fox.core import words
else:
    words = late_module("agent_fox.core.words")

LONGEST = 300  # characters of a selector
LONGEST_MODULE = 200
INVALID, ESCAPES, MISSING, UNKNOWN_MODULE = "selector_invalid", "path_escape", "no_such_path", "unknown_module"

_SHELL = frozenset(";|&`$<>\"'\\")
_PATH = regex(r"[\w.+ /-]+")
_PARAMETERS = regex(r"\[[^\[]*\]$")
_IDENTIFIER = r"[^\W\d]\w*"
_DOTTED = regex(rf"{_IDENTIFIER}(?:\.{_IDENTIFIER})*")
_RUST = regex(rf"{_IDENTIFIER}(?:::{_IDENTIFIER})*")
_CLASS = r"[A-Za-z_*][\w.$*]*"
_METHODS = r"#[\w$*]+(?:\[[\w*]+\])?(?:\+[\w$*]+)*"
_SUREFIRE = regex(rf"{_CLASS}(?:{_METHODS})?(?:,{_CLASS}(?:{_METHODS})?)*")
_GRADLE = regex(r"[A-Za-z_*](?:[\w.$*,-]| (?! ))*")
_GO_TEST = regex(r"(?:Test|Example|Fuzz|Benchmark)\w*(?:/[\w .,:=+#@()\[\]-]+)*")
_CTEST = regex(r"\w(?:[\w.:/+-]| (?! ))*")
_SCRIPT_FILE = regex(r"[\w./+-]+\.[cm]?[jt]sx?")
_MOST_STARS = 4
_REGEX_SIGNS = regex(r"[.*+?^${}()|\[\]\\/]")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Selected:
    """A test that was named: by a file or folder, a name, or both. `pattern` is a regular expression for the name."""

    path: str = ""
    name: str = ""
    pattern: str = ""


def known_module(module: str, places: Mapping[str, _T]) -> _T:
    """The place of a module that detection found, whichever way it is written. Raises Refused for any other."""
    if len(module) > LONGEST_MODULE or not module.isprintable():
        raise Refused(UNKNOWN_MODULE, "a module is named by its folder, in at most 200 characters")
    plain = module.removeprefix("./").rstrip("/")
    plain = plain.strip(":").replace(":", "/") if module.startswith(":") else plain
    if plain not in places:
        raise Refused(UNKNOWN_MODULE, _unknown(module, places))
    return places[plain]


def selected(kind: SelectorKind, selector: str, root: Path, folder: Path) -> Selected:
    """The test that a selector names, for a command that runs in `folder` below `root`. Raises Refused."""
    _refuse_unsafe(selector)
    return _READERS[kind](selector, _Here(root.resolve(), folder))


@dataclass(frozen=True, slots=True)
class _Here:
    root: Path
    folder: Path

    def existing(self, text: str) -> str:
        """A path as it was written, which leads to something within the workspace."""
        parts = PurePosixPath(text).parts
        if not _PATH.fullmatch(text) or any(part.startswith("-") for part in parts):
            raise Refused(INVALID, f"{text!r} is not a path that can be tested")
        if text.startswith("/") or ".." in parts:
            raise Refused(ESCAPES, f"{text!r} leads out of the workspace")
        place = self.folder / text
        if not place.resolve().is_relative_to(self.root):
            raise Refused(ESCAPES, f"{text!r} leads out of the workspace")
        if not place.exists():
            raise Refused(MISSING, f"{text!r} is not there")
        return text

    def is_there(self, text: str) -> bool:
        return bool(_PATH.fullmatch(text)) and (self.folder / text).exists()


def _refuse_unsafe(selector: str) -> None:
    if not selector.strip() or selector != selector.strip():
        raise Refused(INVALID, "a selector names a test; it is not empty, and has no blanks around it")
    if selector.startswith("/") or ".." in PurePosixPath(selector.partition("::")[0]).parts:
        raise Refused(ESCAPES, f"{selector[:LONGEST]!r} leads out of the workspace")
    if len(selector) > LONGEST:
        raise Refused(INVALID, f"a selector has at most {LONGEST} characters")
    if selector.startswith(("-", "@", "+")):
        raise Refused(INVALID, "a selector names a test; it is no option and no file of options")
    wrong = next((sign for sign in selector if sign in _SHELL or not sign.isprintable()), None)
    if wrong and not (wrong == "$" and re.fullmatch(r"[\w.$#*+,]+", selector)):
        raise Refused(INVALID, f"{wrong!r} cannot stand in a selector")


def _pytest(selector: str, here: _Here) -> Selected:
    """`tests/test_a.py::TestClass::test_b[case]`"""
    plain = _PARAMETERS.sub("", selector)
    path, *names = plain.split("::")
    if (names or plain == selector) and all(re.fullmatch(_IDENTIFIER, name) for name in names):
        return Selected(path=here.existing(path) + selector.removeprefix(path))
    raise Refused(INVALID, f"{selector!r} is no node id of pytest, such as tests/test_a.py::TestB::test_c[case]")


def _unittest(selector: str, here: _Here) -> Selected:
    """`tests.test_a.TestB.test_c`, or a file."""
    if selector.endswith(".py"):
        return Selected(name=here.existing(selector))
    return Selected(name=_matching(_DOTTED, selector, "a dotted name such as tests.test_a.TestB.test_c"))


def _surefire(selector: str, here: _Here) -> Selected:
    """`AuthTest`, `com.acme.AuthTest#rejects`, `Auth*Test`, several with commas."""
    return Selected(name=_matching(_SUREFIRE, selector, "a class, or Class#method"))


def _gradle(selector: str, here: _Here) -> Selected:
    """`com.acme.AuthTest.rejects`"""
    return Selected(name=_matching(_GRADLE, selector, "a class or method such as com.acme.AuthTest.rejects"))


def _go(selector: str, here: _Here) -> Selected:
    """`TestLogin`, `TestLogin/expired`, `internal/auth::TestLogin`, or `internal/auth` alone."""
    path, _, name = selector.rpartition("::")
    if not path and not _GO_TEST.fullmatch(name):
        path, name = name, ""
    if name:
        _matching(_GO_TEST, name, "a test such as TestLogin/expired")
    pattern = "/".join(f"^{re.escape(part.replace(' ', '_'))}$" for part in name.split("/")) if name else ""
    return Selected(_package(path, here) if path else "", name, pattern.replace(r"\-", "-"))


def _package(path: str, here: _Here) -> str:
    """The package of a folder, or of a file's folder, as Go wants it written."""
    plain = PurePosixPath(here.existing(path))
    return f"./{plain.parent if (here.folder / plain).is_file() else plain}"


def _cargo(selector: str, here: _Here) -> Selected:
    """`auth::tests::rejects_expired`"""
    return Selected(name=_matching(_RUST, selector, "a test's path such as auth::tests::rejects"))


def _ctest(selector: str, here: _Here) -> Selected:
    """The name of a test that add_test gave."""
    name = _matching(_CTEST, selector, "the name of a test of ctest")
    return Selected(name=name, pattern=f"^{_literal(name)}$")


def _javascript(selector: str, here: _Here) -> Selected:
    """`src/auth.test.ts`, `src/auth.test.ts::rejects expired`, or `rejects expired`."""
    path, has_both, name = selector.partition("::")
    if not has_both and not (_SCRIPT_FILE.fullmatch(path) or (here.is_there(path) and "/" in path)):
        path, name = "", selector
    if name.startswith("-"):
        raise Refused(INVALID, "a test's name begins with no dash")
    return Selected(here.existing(path) if path else "", name, _literal(name))


_READERS: dict[SelectorKind, Callable[[str, _Here], Selected]] = {
    SelectorKind.PYTEST: _pytest,
    SelectorKind.UNITTEST: _unittest,
    SelectorKind.SUREFIRE: _surefire,
    SelectorKind.GRADLE: _gradle,
    SelectorKind.GO: _go,
    SelectorKind.CARGO: _cargo,
    SelectorKind.CTEST: _ctest,
    SelectorKind.JAVASCRIPT: _javascript,
}


def _matching(rule: re.Pattern[str], selector: str, wanted: str) -> str:
    if not rule.fullmatch(selector) or selector.count("*") > _MOST_STARS:
        raise Refused(INVALID, f"{selector!r} is not {wanted}")
    return selector


def _literal(name: str) -> str:
    """A regular expression that matches this text alone, in JavaScript and CMake."""
    return _REGEX_SIGNS.sub(lambda found: f"\\{found[0]}" if found[0] != "/" else "/", name)


def _unknown(module: str, places: Iterable[str]) -> str:
    known = sorted(places)
    if not known:
        return f"there is no module {module[:60]!r}: the project has none"
    names = f"; there are: {words.listed(known)}"
    return f"there is no module {module[:60]!r}{words.did_you_mean(module, known, names)}"
