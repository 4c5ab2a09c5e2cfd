"""What Go, Rust and C projects use, and what a Makefile makes."""

from __future__ import annotations

import re

from agent_fox.core.regex import regex
from agent_fox.verifier.projects.detect_native import CARGO, CMAKE, GO_MOD, makefile_of
from agent_fox.verifier.projects.manifests import Manifests, join
from agent_fox.verifier.projects.systems import Facts, Place, SystemKind

_RULE = regex(r"^([^\s#:=][^:=#\n]*?)\s*:(?![=:]*=)", re.MULTILINE)
_ASSIGNMENT = regex(r"^([A-Za-z_]\w*)\s*[:?+]?=\s*(.*?)\s*(?:#.*)?$", re.MULTILINE)
_VARIABLE = regex(r"\$[({](\w+)[)}]")
_IGNORED = regex(r"^\t\s*@?-.*(?:test|check).*|^\.IGNORE\b.*", re.MULTILINE)
_NAME = regex(r"[\w./+-]{1,200}")
_MOST_PRODUCTS = 200


def go_facts(manifests: Manifests, place: Place) -> Facts:
    """The packages of a module, or of all modules that go.work uses."""
    if place.is_module or not place.system.modules:
        return Facts(lists={"packages": ("./...",)})
    here = ("./...",) if manifests.is_file(join(place.system.root, GO_MOD)) else ()
    return Facts(lists={"packages": (*here, *(f"./{module}/..." for module in place.system.modules))})


def cargo_facts(manifests: Manifests, place: Place) -> Facts:
    """Cargo's switches that leave out a whole target's tests."""
    path = join(place.folder, CARGO)
    text = manifests.text(path) or "" if manifests.is_file(path) else ""
    settings = re.findall(r"(?m)^\s*(test\s*=\s*false|autotests\s*=\s*false|harness\s*=\s*false)", text)
    return Facts(notes=tuple(f"{path} leaves tests out: {each}" for each in dict.fromkeys(settings)))


def c_facts(manifests: Manifests, place: Place) -> Facts:
    folder = place.folder
    traits = {"clang-format"} if manifests.is_file(join(folder, ".clang-format")) else set()
    if place.system.kind is SystemKind.CMAKE:
        return Facts(frozenset(traits), notes=_cmake_notes(manifests, folder))
    path = join(folder, makefile_of(manifests, folder) or "Makefile")
    text = manifests.text(path) or ""
    targets = _targets(text)
    traits |= {f"make-{name}" for name in ("test", "check") if name in targets}
    products = tuple(
        join(folder, name) for name in targets if _NAME.fullmatch(name) and not name.startswith((".", "/"))
    )
    notes = tuple(f"{path} ignores failures: {line.strip()[:120]}" for line in _IGNORED.findall(text))
    return Facts(frozenset(traits), notes=notes, products=products[:_MOST_PRODUCTS])


def _targets(text: str) -> list[str]:
    """The names that a Makefile has rules for, variables put in once."""
    values = dict(_ASSIGNMENT.findall(text))
    rule_heads = (_VARIABLE.sub(lambda found: values.get(found[1], ""), head) for head in _RULE.findall(text))
    return list(dict.fromkeys(name for head in rule_heads for name in head.split() if "%" not in name))


def _cmake_notes(manifests: Manifests, folder: str) -> tuple[str, ...]:
    path = join(folder, CMAKE)
    settings = re.findall(
        r"(?:WILL_FAIL|DISABLED|SKIP_RETURN_CODE|SKIP_REGULAR_EXPRESSION)\b[^)\n]*", manifests.text(path) or ""
    )
    beside = makefile_of(manifests, folder)
    chosen = (f"{join(folder, beside)} is not run beside CMake; --profile c-make takes it instead",) if beside else ()
    return (*chosen, *(f"{path} changes what counts as failed: {each.strip()[:120]}" for each in settings))
