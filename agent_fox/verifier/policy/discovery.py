"""Which files test runners look into, by their usual rules, and which files belong to tests at all. Paths only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.values import Language

_LANGUAGES = {
    suffix: language
    for language, suffixes in (
        (Language.PYTHON, ".py"),
        (Language.JAVASCRIPT, ".js .jsx .mjs .cjs"),
        (Language.TYPESCRIPT, ".ts .mts .cts"),
        (Language.TSX, ".tsx"),
        (Language.JAVA, ".java"),
        (Language.GO, ".go"),
        (Language.RUST, ".rs"),
        (Language.CPP, ".c .cc .cpp .cxx"),
    )
    for suffix in suffixes.split()
}
_TEST_FOLDERS = frozenset({"test", "tests", "testing", "__tests__", "spec", "specs", "e2e", "testdata"})
_PASSED_BY = regex(
    r"^(?:\..+|node_modules|build|dist|venv|target|attic|archived?|old|disabled|deprecated|backup|skipped|ignored?"
    r"|quarantined?|broken|_.+)$"
)
_NAMES: dict[Language, str] = {
    Language.PYTHON: r"(?:test_.*|.*_test|tests?)\.py",
    Language.JAVASCRIPT: r".*[.\-_](?:test|spec|cy|e2e)\.[cm]?jsx?|test[-_.].*\.[cm]?js|tests?\.[cm]?js",
    Language.TYPESCRIPT: r".*[.\-_](?:test|spec|cy|e2e|test-d)\.[cm]?ts|tests?\.[cm]?ts",
    Language.TSX: r".*[.\-_](?:test|spec|cy)\.tsx",
    Language.JAVA: r"(?:Test|IT).*\.java|.*(?:Tests?|TestCase|IT|Spec)\.java",
    Language.GO: r".*_test\.go",
    Language.RUST: r".*\.rs",
    Language.CPP: r"(?i:.*test.*)\.(?:c|cc|cpp|cxx)",
}
JAVASCRIPT = (Language.JAVASCRIPT, Language.TYPESCRIPT, Language.TSX)


def language_of(path: str, hints: Mapping[str, Language]) -> Language | None:
    for pattern, language in hints.items():
        if fnmatchcase(path, pattern):
            return language
    if path.endswith(".d.ts"):
        return None
    return _LANGUAGES.get(PurePosixPath(path).suffix)


def is_collected(path: str, language: Language) -> bool:
    """Whether the language's runners find tests in a file of this path."""
    pure = PurePosixPath(path)
    if any(_PASSED_BY.match(folder) and folder != "__tests__" for folder in pure.parts[:-1]):
        return False
    in_folder = language in JAVASCRIPT and "__tests__" in pure.parts
    in_folder = in_folder or (language is Language.CPP and not {"test", "tests"}.isdisjoint(pure.parts[:-1]))
    usual = next(suffix for suffix, spoken in _LANGUAGES.items() if spoken is language)
    name = pure.name if pure.suffix in _LANGUAGES else f"{pure.stem}{usual}"
    return in_folder or re.fullmatch(_NAMES[language], name) is not None


def home_of_tests(path: str, language: Language) -> str:
    """The folder of a script that stands below `test`, `tests` or `spec` under a name of its own, as mocha and
    `node --test` find tests there; empty elsewhere. Other runners pass such files by, so this alone decides nothing.
    """
    folder = PurePosixPath(path).parent
    is_below = language in JAVASCRIPT and not {"test", "tests", "spec"}.isdisjoint(folder.parts)
    return str(folder) if is_below and not is_collected(path, language) else ""


def belongs_to_tests(path: str) -> bool:
    """Whether a file is a test or stands beside tests: helpers, data, configuration of tests."""
    pure = PurePosixPath(path)
    if not _TEST_FOLDERS.isdisjoint(pure.parts[:-1]) or pure.name in ("conftest.py", "setupTests.js", "setupTests.ts"):
        return True
    language = _LANGUAGES.get(pure.suffix)
    if language is None or language is Language.RUST:
        return False
    return re.fullmatch(_NAMES[language], pure.name) is not None
