"""Rules about stand-ins: replacing what a test is about shows nothing; replacing the world around it is fine."""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.verifier.policy.expressions import calls
from agent_fox.verifier.policy.rules.tables import finding

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
        known = Counter(map(_what, (*old.patches, *(patch for each in old.functions for patch in each.patches))))
        own = [(test.name, [test], patch) for test in tests for patch in test.function.patches]
        for name, about, patch in (*own, *((None, tests, patch) for patch in new.patches)):
            known[_what(patch)] -= 1
            if known[_what(patch)] < 0 and _is_subject(patch, about, new):
                yield finding("stand-in", source.path, patch.line, name, after=patch.text[:200])


def _what(patch: Patch) -> tuple[str, tuple[str, ...]]:
    """What a patch replaces, whichever way its module is written: `shop.cart` or `cart`, but a path as it stands."""
    module = patch.module if "/" in patch.module else patch.module.rpartition(".")[2]
    return module, patch.names


def _is_subject(patch: Patch, tests: list[Test], reading: Reading) -> bool:
    """Whether an assertion calls what is replaced: by its name, or by any name from the module replaced."""
    if any(_is_named_for(test.path, patch) for test in tests):
        return True
    names = patch.names or tuple(
        name for name, module in reading.imports if f"{module}/".startswith((f"{patch.module}.", f"{patch.module}/"))
    )
    if all(test.path.endswith(".py") for test in tests):  # `datetime` is of the standard library
        own = {name for name, module in reading.imports if module.partition(".")[0] in sys.stdlib_module_names}
        names = tuple(name for name in names if name not in own)
    return any(calls(assertion.subject, name) for test in tests for assertion in test.assertions for name in names)


def _is_named_for(path: str, patch: Patch) -> bool:
    """Whether all of `../src/cart` is replaced in `cart.test.ts`."""
    if patch.names or "/" not in patch.module:
        return False
    stems = [
        re.sub(r"[.\-_](?:test|spec)$|\.[cm]?[jt]sx?$", "", PurePosixPath(each).stem) for each in (path, patch.module)
    ]
    return stems[0] == stems[1]
