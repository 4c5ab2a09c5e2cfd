"""Tests of our own whose outcome is known, around those of each run: a report that is wrong about them is not believed.

Source of the rule: `docs/proof.md`, "The runner must be believed".
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.verifier.cases import Outcome

if TYPE_CHECKING:
    from agent_fox.verifier.calls import Call
    from agent_fox.verifier.cases import Case

_REPORTERS = Path(__file__).parent / "reporters"
_WORDS = ("before_passes", "before_fails", "after_passes", "after_fails")
_DEAF = ("-I", "-E", "-i", "--ignore-environment", "-")
_PATH = "PYTHONPATH="
_Told = tuple[str, str, bool]
FOR_UNITTEST = "AGENT_FOX_CONTROLS"
"""The variable in which our unittest program is told the name of its controls; it takes it out before any test."""


@dataclass(frozen=True, slots=True)
class Controls:
    """The controls of one run. `name` was made for it; `by_file`: each file of tests has a set of its own."""

    name: str
    by_file: bool = False

    def taken_out(self, cases: Sequence[Case], broken: Iterable[str] = ()) -> tuple[tuple[Case, ...], str]:
        """The other tests, and why the report is not believed; empty where it is.

        A report without a single test needs no controls, since it proves nothing; nor do files that are `broken`.
        """
        others = tuple(case for case in cases if self.name not in case.name)
        files = {case.file for case in others if case.outcome is not Outcome.SKIPPED} - {*broken}
        if not self.by_file:
            files = {""} if files else set()
        told = [self._told(case, files) for case in cases if self.name in case.name]
        wanted = {(word, file, word.endswith("fails")) for word in _WORDS for file in files}
        about = [one for one in told if one[1] in files]
        if {*about} == wanted and len(about) == len(wanted):
            return others, ""
        return others, _difference(wanted, about)

    def _told(self, case: Case, files: Iterable[str]) -> _Told:
        """Which control it is, of which file, and whether it failed."""
        word, _, path = case.name.removeprefix(f"{self.name}_").partition(" ")
        file = next((file for file in files if path.endswith(f"/{file}")), path) if self.by_file else ""
        return word, file, case.outcome is Outcome.FAILED


def _difference(wanted: set[_Told], told: Sequence[_Told]) -> str:
    odd = [(word, file) for word, file, failed in told if (word, file, failed) not in wanted]
    if odd:
        names = ", ".join(dict.fromkeys(word.replace("_", " ") for word, _ in odd))
        return f"of our own tests around the others, these ended as they cannot: {names}"
    missing = sorted({(word, file) for word, file, _ in wanted - {*told}})
    if not missing:
        return "our own tests around the others are told more than once"
    names = ", ".join(" ".join([word.replace("_", " "), *(["in", file] if file else [])]) for word, file in missing)
    return f"of our own tests around the others, these are not told of: {names}"


def with_controls(call: Call, folder: Path) -> tuple[Call, Controls | None]:
    """The call with controls around its tests, laid down in `folder`; as it is, and None, where it can carry none."""
    carry = _CARRIERS.get(call.tool)
    if carry is None:
        return call, None
    folder.mkdir(exist_ok=True)
    return carry(call, folder, f"afx_{secrets.token_hex(6)}")


def _pytest(call: Call, folder: Path, name: str) -> tuple[Call, Controls | None]:
    """By PYTHONPATH, which the command line may set too. Some interpreters and wrappers do not heed it."""
    before = call.argv[: call.at]
    if any(word in _DEAF for word in before):
        return call, None
    shutil.copyfile(_REPORTERS / "pytest_controls.py", folder / f"{name}.py")
    words = tuple(
        f"{_PATH}{folder}{os.pathsep}{word[len(_PATH) :]}" if word.startswith(_PATH) else word for word in before
    )
    path = os.pathsep.join(filter(None, (str(folder), call.variables.get("PYTHONPATH", ""))))
    call = replace(call.with_more("-p", name), variables={**call.variables, "PYTHONPATH": path})
    return replace(call, argv=(*words, *call.argv[call.at :])), Controls(name)


def _unittest(call: Call, folder: Path, name: str) -> tuple[Call, Controls | None]:
    return replace(call, variables={**call.variables, FOR_UNITTEST: name}), Controls(name)


def _node(call: Call, folder: Path, name: str) -> tuple[Call, Controls | None]:
    own = folder / f"{name}.cjs"
    shutil.copyfile(_REPORTERS / "node_controls.cjs", own)
    words: tuple[str, ...] = ("--require", str(own))
    if any(word.startswith("--test-name-pattern") for word in (*call.argv, *call.script.split())):
        words = (*words, f"--test-name-pattern=^{name}_")
    if not call.script:
        return call.with_options(*words), Controls(name, by_file=True)
    joined = " ".join(filter(None, (call.variables.get("NODE_OPTIONS", ""), *words)))
    return replace(call, variables={**call.variables, "NODE_OPTIONS": joined}), Controls(name, by_file=True)


_CARRIERS: Mapping[str, Callable[[Call, Path, str], tuple[Call, Controls | None]]] = {
    "pytest": _pytest,
    "unittest": _unittest,
    "node-test": _node,
}
