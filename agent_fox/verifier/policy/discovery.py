"""Which files test runners look into, by their usual rules, and which files belong to tests at all. Paths only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import PurePosixPath

from agent_fox.core.regex import regex
from agent_fox.verifier.policy.tables import document, words_of
from agent_fox.verifier.policy.values import Language

_PASSED_BY = regex(
    r"^(?:\..+|node_modules|build|dist|venv|target|attic|archived?|old|disabled|deprecated|backup|skipped|ignored?"
    r"|quarantined?|broken|_.+)$"
)
JAVASCRIPT = (Language.JAVASCRIPT, Language.TYPESCRIPT, Language.TSX)


@cache
def _languages() -> Mapping[str, Language]:
    return {end: Language(name) for name, row in document("languages").items() for end in row["suffixes"].split()}


def language_of(path: str, hints: Mapping[str, Language]) -> Language | None:
    hinted = next((language for pattern, language in hints.items() if fnmatchcase(path, pattern)), None)
    return hinted or (None if path.endswith(".d.ts") else _languages().get(PurePosixPath(path).suffix))


def is_collected(path: str, language: Language) -> bool:
    """Whether the language's runners find tests in a file of this path."""
    pure, row = PurePosixPath(path), document("languages")[language]
    if any(_PASSED_BY.match(folder) and folder != "__tests__" for folder in pure.parts[:-1]):
        return False
    in_folder = language in JAVASCRIPT and "__tests__" in pure.parts
    in_folder = in_folder or (language is Language.CPP and not {"test", "tests"}.isdisjoint(pure.parts[:-1]))
    name = pure.name if pure.suffix in _languages() else f"{pure.stem}{row['suffixes'].split()[0]}"
    return in_folder or re.fullmatch(row["tests"], name) is not None


def home_of_tests(path: str, language: Language) -> str:
    """The folder below `test`, `tests` or `spec` of a script that mocha finds whatever its name, and others do not."""
    folder = PurePosixPath(path).parent
    is_below = language in JAVASCRIPT and not {"test", "tests", "spec"}.isdisjoint(folder.parts)
    return str(folder) if is_below and not is_collected(path, language) else ""


def belongs_to_tests(path: str) -> bool:
    """Whether a file is a test or stands beside tests: helpers, data, configuration of tests."""
    pure = PurePosixPath(path)
    if words_of("any", "test_folders") & set(pure.parts[:-1]) or pure.name in words_of("any", "test_files"):
        return True
    language = _languages().get(pure.suffix, Language.RUST)  # files of Rust are tests and code at once
    pattern = "(?!)" if language is Language.RUST else document("languages")[language]["tests"]
    return re.fullmatch(pattern, pure.name) is not None
