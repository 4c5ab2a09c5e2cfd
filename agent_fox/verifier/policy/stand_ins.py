"""Rules about stand-ins: replacing what a test is about shows nothing; replacing the world around it is fine."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.verifier.policy.tables import finding
from agent_fox.verifier.policy.values import beyond

if TYPE_CHECKING:
    from agent_fox.verifier.policy.gathering import SourceChange, Test
    from agent_fox.verifier.policy.reading import Patch, Reading
    from agent_fox.verifier.policy.values import PolicyFinding


def findings_about_stand_ins(sources: Iterable[SourceChange], after: Iterable[Test]) -> Iterator[PolicyFinding]:
    """New stand-ins for functions that an assertion of the same test (or file, for those of the file) calls."""
    by_path: dict[str, list[Test]] = defaultdict(list)
    for test in after:
        if test.function.is_test:
            by_path[test.path].append(test)
    for source in (each for each in sources if not each.error and each.after.reading.tests):
        old, new, tests = source.before.reading, source.after.reading, by_path[source.path]
        known = map(_what, (*old.patches, *(patch for each in old.functions for patch in each.patches)))
        own = [(test.name, [test], patch) for test in tests for patch in test.function.patches]
        patches = (*own, *((None, tests, patch) for patch in new.patches))
        for name, about, patch in beyond(patches, known, lambda patched: _what(patched[2])):
            if _is_subject(patch, about, new):
                yield finding("stand-in", source.path, patch.line, name, after=patch.text[:200])


def _what(patch: Patch) -> tuple[str, tuple[str, ...]]:
    """What a patch replaces, whichever way its module is written: `shop.cart` or `cart`, but a path as it stands."""
    module = patch.module if "/" in patch.module else patch.module.rpartition(".")[2]
    return module, patch.names


def _is_subject(patch: Patch, tests: list[Test], reading: Reading) -> bool:
    """Whether an assertion calls what is replaced: by its name, or by any name from the module replaced; or all of
    `../src/cart` is replaced in `cart.test.ts`.
    """
    if not patch.names and "/" in patch.module and any(_stem(test.path) == _stem(patch.module) for test in tests):
        return True
    parents = (f"{patch.module}.", f"{patch.module}/")
    names = set(patch.names) or {name for name, module in reading.imports if f"{module}/".startswith(parents)}
    if all(test.path.endswith(".py") for test in tests):  # `datetime` is of the standard library
        names -= {name for name, module in reading.imports if module.partition(".")[0] in sys.stdlib_module_names}
    called = (pair for test in tests for assertion in test.assertions for pair in pairwise(assertion.subject))
    return any(name in names and after == "(" for name, after in called)


def _stem(path: str) -> str:
    return re.sub(r"[.\-_](?:test|spec)$|\.[cm]?[jt]sx?$", "", PurePosixPath(path).stem)
