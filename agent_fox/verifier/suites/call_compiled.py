"""Go, Cargo, Maven, Gradle and CTest: how they are asked for a report, and for some of their tests alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_fox.verifier.ground.cases import Case
    from agent_fox.verifier.suites.calls import Call

_QUIET = ("-q", "--quiet")


def verb_of(call: Call) -> str:
    """The first word behind the tool's name that is no option: `test` of `go test ./...`."""
    return next((word for word in call.argv[call.at + 1 :] if not word.startswith(("-", "+"))), "")


def go_report(call: Call, report: Path) -> Call:
    """What Go writes for programs takes the place of its text."""
    own = call.argv[: call.argv.index("-args")] if "-args" in call.argv else call.argv
    if verb_of(call) != "test" or "-json" in own:
        return call
    return _behind_verb(call, "-json")


def go_tests(call: Call, tests: Sequence[Case]) -> Call | None:
    if verb_of(call) != "test":
        return None
    names = dict.fromkeys(test.classes[0] if test.classes else test.name for test in tests)
    return _behind_verb(call, "-count=1", f"-run=^({'|'.join(map(re.escape, names))})$")


def cargo_report(call: Call, report: Path) -> Call:
    """Cargo's text names every test, unless it runs quietly; one failed target doesn't hide the next."""
    if verb_of(call) not in ("test", "t"):
        return call
    loud = replace(call, argv=_with_format_of_people(tuple(word for word in call.argv if word not in _QUIET)))
    return loud if "--no-fail-fast" in loud.argv else loud.with_more("--no-fail-fast")


def _with_format_of_people(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The words without the output format of libtest (`--format terse`) behind the double dash."""
    at = argv.index("--") if "--" in argv else len(argv)
    words = iter(argv[at:])
    kept = []
    for word in words:
        if word == "--format":
            next(words, None)
        elif not word.startswith("--format="):
            kept.append(word)
    return (*argv[:at], *kept)


def cargo_tests(call: Call, tests: Sequence[Case]) -> Call | None:
    if verb_of(call) not in ("test", "t") or any(test.name.endswith(")") for test in tests):
        return None  # the examples of comments have blanks in their names, at which rustdoc parts them
    dash = () if "--" in call.argv else ("--",)
    names = dict.fromkeys("::".join((*test.classes, test.name)) for test in tests)
    return replace(call, argv=(*call.argv, *dash, "--exact", *names))


def maven_tests(call: Call, tests: Sequence[Case]) -> Call:
    names = (f"{_java_class(test)}#{test.function}" for test in tests)
    added = ("-Dsurefire.failIfNoSpecifiedTests=false", "-DfailIfNoTests=false")
    return call.with_more(f"-Dtest={','.join(dict.fromkeys(names))}", *added)


def gradle_tests(call: Call, tests: Sequence[Case]) -> Call:
    """Tests that ran before are up to date for Gradle: it runs them again by this option."""
    names = dict.fromkeys(f"{_java_class(test)}.{test.function}" for test in tests)
    return call.with_more("--rerun-tasks", *(word for name in names for word in ("--tests", name)))


def ctest_report(call: Call, report: Path) -> Call:
    return call.with_more("--output-junit", str(report))


def ctest_tests(call: Call, tests: Sequence[Case]) -> Call:
    return call.with_more("-R", f"^({'|'.join(re.escape(test.name) for test in tests)})$")


def _behind_verb(call: Call, *options: str) -> Call:
    at = call.argv.index(verb_of(call), call.at) + 1
    return replace(call, argv=(*call.argv[:at], *options, *call.argv[at:]))


def _java_class(test: Case) -> str:
    """`com.shop.CartTest$Inner` of the packages and classes around a test."""
    at = next((at for at, part in enumerate(test.classes) if part[:1].isupper()), len(test.classes))
    return ".".join((*test.classes[:at], "$".join(test.classes[at:])))
