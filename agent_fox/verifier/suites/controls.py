"""Tests of our own whose outcome is known, around those of each run: a report that is wrong about them is not believed.

Source of the rule: `docs/proof.md`, "The runner must be believed".
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.json_text import json_object
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system.files import content_in
from agent_fox.verifier.ground.cases import Outcome
from agent_fox.verifier.suites.call_compiled import verb_of

if TYPE_CHECKING:
    from agent_fox.verifier.ground.cases import Case
    from agent_fox.verifier.suites.calls import Call

_REPORTERS = Path(__file__).parents[1] / "reporters"
_WORDS = ("before_passes", "before_fails", "after_passes", "after_fails")
_DEAF = ("-I", "-E", "-i", "--ignore-environment", "-")
_PATH = "PYTHONPATH="
_Row = tuple[str, str, bool]
FOR_UNITTEST = "AGENT_FOX_CONTROLS"
"""The variable in which our unittest program is told the name of its controls; it takes it out before any test."""


_OTHER_RUNNER = regex(r"\b(?:testRunner|runner|workspace|projects|browser)\b")
"""Settings of Jest and Vitest with which the runner that carries our tests would take the place of another."""
_SETTINGS_OF = {
    "jest": ("package.json", "jest.config.*"),
    "vitest": ("vitest.config.*", "vite.config.*", "vitest.workspace.*"),
}
_OLDEST = {"jest": 27, "vitest": 2}
_PACKAGE = regex(r"^package[ \t]+(\w+)", re.MULTILINE)
_CONSTRAINED = regex(r"^//(?:go:build| ?\+build)\b", re.MULTILINE)
_GO_IGNORED = ("_", ".")
_GO_OWN = regex(r"-(?:overlay|toolexec|exec|(?:test\.)?failfast)\b|^-c$")
"""Options of Go beside which none are carried: with -failfast, the one that fails would be the last."""
_GO_TOOL = """#!/bin/sh
case "$1" in */vet)
  for word; do case "$word" in *vet.cfg)
    sed -i 's,"[^"]*/\\([^"/]*{name}[^"/]*_test.go\\)","{folder}/\\1",' "$word" ;;
  esac; done ;;
esac
exec "$@"
"""
"""Started in the place of each of Go's tools: `vet` reads no overlays, so it is told where our files lie."""


@dataclass(frozen=True, slots=True)
class Controls:
    """The controls of one run. `name` was made for it.

    by_file: each file of tests has a set of its own; `folders`: each of these folders has, by the word in its tests'
    names. is_counted: the tool's exit code says that one of each pair failed. `aside`: the file in which each control
    says how it ended, where the tool is not to know.
    """

    name: str
    by_file: bool = False
    folders: Mapping[str, str] = field(default_factory=dict)
    is_counted: bool = False
    aside: Path | None = None

    def taken_out(self, cases: Sequence[Case], broken: Iterable[str] = ()) -> tuple[tuple[Case, ...], str]:
        """The other tests, and why the report is not believed; empty where it is.

        A report without a single test needs no controls, since it proves nothing; nor do files that are `broken`. Where
        a test failed, a runner may have stopped at it, so that the pair after it need not be there.
        """
        others = tuple(case for case in cases if self.name not in case.name)
        files = {case.file for case in others if case.outcome is not Outcome.SKIPPED} - {*broken}
        places = self._places(files)
        stopped = self._places({case.file for case in others if case.outcome is Outcome.FAILED} - {*broken})
        rows = [self._row(name, is_failed, places) for name, is_failed in self._ends(cases)]
        wanted = {(word, place, word.endswith("fails")) for word in _WORDS for place in places}
        about = [each for each in rows if each[1] in places]
        stopped -= {place for word, place, _ in about if word.startswith("after")}
        wanted = {each for each in wanted if not (each[1] in stopped and each[0].startswith("after"))}
        is_once = self.aside is not None or len(about) == len(wanted)
        if {*about} == wanted and is_once:
            return others, ""
        return others, _difference(wanted, about)

    def _places(self, files: set[str]) -> set[str]:
        """Where controls must have run, by the files whose tests ran."""
        if self.by_file:
            return files
        if self.folders:
            return {PurePosixPath(file).parent.as_posix() for file in files if file} & {*self.folders.values()}
        return {""} if files else set()

    def _ends(self, cases: Sequence[Case]) -> Iterator[tuple[str, bool]]:
        """The name of each control that was reported, and whether it failed."""
        if self.aside is None:
            yield from ((case.name, case.outcome is Outcome.FAILED) for case in cases if self.name in case.name)
            return
        for line in (content_in(self.aside.parent, self.aside.name) or b"").decode("utf-8", "replace").splitlines():
            match json_object(line):
                case {"name": name, "failed": failed}:
                    yield str(name), bool(failed)
                case _:
                    yield f"{self.name}_{line[:80]}", False

    def _row(self, name: str, is_failed: bool, places: Iterable[str]) -> _Row:
        """Which control it is, of which file or folder, and whether it failed."""
        word, _, path = name.removeprefix(f"{self.name}_").partition(" ")
        if self.folders:
            return word, self.folders.get(path, path), is_failed
        place = next((file for file in places if path.endswith(f"/{file}")), path) if self.by_file else ""
        return word, place, is_failed


def _difference(wanted: set[_Row], reported: Sequence[_Row]) -> str:
    odd = [(word, file) for word, file, failed in reported if (word, file, failed) not in wanted]
    if odd:
        names = ", ".join(dict.fromkeys(word.replace("_", " ") for word, _ in odd))
        return f"of our own tests around the others, these ended as they cannot: {names}"
    missing = sorted({(word, file) for word, file, _ in wanted - {*reported}})
    if not missing:
        return "our own tests around the others are told more than once"
    names = ", ".join(" ".join([word.replace("_", " "), *(["in", file] if file else [])]) for word, file in missing)
    return f"of our own tests around the others, these are not told of: {names}"


def with_controls(call: Call, folder: Path, workspace: Path) -> tuple[Call, Controls | None]:
    """The call with controls around its tests, laid down in `folder`; as it is, and None, where it can carry none."""
    carry = _CARRIERS.get(call.tool)
    if carry is None:
        return call, None
    folder.mkdir(exist_ok=True)
    return carry(call, folder, f"afx_{secrets.token_hex(6)}", workspace)


def _pytest(call: Call, folder: Path, name: str, _workspace: Path) -> tuple[Call, Controls | None]:
    """By PYTHONPATH, which the command line may set too. Some interpreters and wrappers do not heed it."""
    before = call.argv[: call.at]
    if any(word in _DEAF for word in before):
        return call, None
    shutil.copyfile(_REPORTERS / "pytest_controls.py", folder / f"{name}.py")
    shutil.copyfile(_REPORTERS / "pytest_controls_kept.py", folder / f"{name}_kept.py")
    words = tuple(
        f"{_PATH}{folder}{os.pathsep}{word[len(_PATH) :]}" if word.startswith(_PATH) else word for word in before
    )
    path = os.pathsep.join(filter(None, (str(folder), call.variables.get("PYTHONPATH", ""))))
    call = replace(call.with_more("-p", name), variables={**call.variables, "PYTHONPATH": path})
    return replace(call, argv=(*words, *call.argv[call.at :])), Controls(name)


def _unittest(call: Call, _folder: Path, name: str, _workspace: Path) -> tuple[Call, Controls | None]:
    return replace(call, variables={**call.variables, FOR_UNITTEST: name}), Controls(name)


def _node(call: Call, folder: Path, name: str, _workspace: Path) -> tuple[Call, Controls | None]:
    own = folder / f"{name}.cjs"
    shutil.copyfile(_REPORTERS / "node_controls.cjs", own)
    shutil.copyfile(_REPORTERS / "kept_functions.cjs", folder / f"{name}_kept.cjs")
    words: tuple[str, ...] = ("--require", str(own))
    if any(word.startswith("--test-name-pattern") for word in (*call.argv, *call.script.split())):
        words = (*words, f"--test-name-pattern=^{name}_")
    if not call.script:
        return call.with_options(*words), Controls(name, by_file=True, is_counted=True)
    joined = " ".join(filter(None, (call.variables.get("NODE_OPTIONS", ""), *words)))
    return replace(call, variables={**call.variables, "NODE_OPTIONS": joined}), Controls(
        name, by_file=True, is_counted=True
    )


def _jest(call: Call, folder: Path, name: str, workspace: Path) -> tuple[Call, Controls | None]:
    """By Jest's setting for a test runner: ours is the one that Jest has by itself, and hands it a setup file more."""
    if _installed(call, workspace) is None or _names_another(call, workspace):
        return call, None
    shutil.copyfile(_REPORTERS / "jest_controls.cjs", folder / f"{name}.cjs")
    shutil.copyfile(_REPORTERS / "kept_functions.cjs", folder / f"{name}_kept.cjs")
    shutil.copyfile(_REPORTERS / "jest_tests.cjs", folder / f"{name}_tests.cjs")
    return call.with_more(f"--testRunner={folder / name}.cjs"), Controls(name, by_file=True)


def _vitest(call: Call, folder: Path, name: str, workspace: Path) -> tuple[Call, Controls | None]:
    """By Vitest's setting for a runner: ours extends the one that Vitest has by itself. A reporter sets it."""
    package = _installed(call, workspace)
    if package is None or _names_another(call, workspace):
        return call, None
    records, own, carrier = folder / f"{name}.jsonl", folder / f"{name}.mjs", folder / f"{name}_carrier.mjs"
    meant = {"AFX_VITEST": package, "AFX_NAME": name, "AFX_TOLD": records, "AFX_RUNNER": own}
    own.write_text(_filled("vitest_controls.mjs", meant), encoding="utf-8")
    shutil.copyfile(_REPORTERS / "kept_functions.cjs", folder / f"{name}_kept.cjs")
    carrier.write_text(_filled("vitest_carrier.mjs", meant), encoding="utf-8")
    return call.with_more(f"--reporter={carrier}"), Controls(name, by_file=True, aside=records)


def _filled(reporter: str, meant: Mapping[str, object]) -> str:
    """The text of one of our programs, with these words in the place of its own."""
    text = (_REPORTERS / reporter).read_text(encoding="utf-8")
    for word, value in meant.items():
        text = text.replace(word, str(value))
    return text


def _installed(call: Call, workspace: Path) -> Path | None:
    """Where the tool's package lies; None where it is not there, or older than what our runners extend."""
    package = workspace / "node_modules" / call.tool
    manifest = json_object(content_in(package, "package.json") or b"") or {}
    major = str(manifest.get("version")).partition(".")[0]
    return package.resolve() if major.isdigit() and int(major) >= _OLDEST[call.tool] else None


def _names_another(call: Call, workspace: Path) -> bool:
    """Whether settings or options have a runner of their own, or tests that another kind of runner runs."""
    words = [word for word in (*call.argv, *call.script.split()) if word.startswith("-")]
    if any(word.split("=")[0] in ("--config", "-c", "--root", "-r", "--rootDir") for word in words):
        return True
    files = [path for pattern in _SETTINGS_OF[call.tool] for path in workspace.glob(pattern)]
    texts = [_of_tool(workspace, path.relative_to(workspace).as_posix(), call.tool) for path in files]
    return _OTHER_RUNNER.search(" ".join((*texts, *words))) is not None


def _of_tool(workspace: Path, path: str, tool: str) -> str:
    """The text of a file of settings; of package.json, what it says of the tool."""
    text = (content_in(workspace, path) or b"").decode("utf-8", "replace")
    if PurePosixPath(path).name != "package.json":
        return text
    manifest = json_object(text)
    return text if manifest is None else json.dumps(manifest.get(tool, ""))


def _mocha(call: Call, folder: Path, name: str, _workspace: Path) -> tuple[Call, Controls | None]:
    own = folder / f"{name}.cjs"
    shutil.copyfile(_REPORTERS / "mocha_controls.cjs", own)
    shutil.copyfile(_REPORTERS / "kept_functions.cjs", folder / f"{name}_kept.cjs")
    return call.with_more("--require", str(own)), Controls(name, aside=own.with_suffix(".jsonl"))


def _go(call: Call, folder: Path, name: str, workspace: Path) -> tuple[Call, Controls | None]:
    """By an overlay: Go reads files from elsewhere as if they stood in the package."""
    words = (*call.argv, *call.variables.values(), os.environ.get("GOFLAGS", ""))
    if verb_of(call) != "test" or any(_GO_OWN.search(word) for word in words):
        return call, None
    replaced: dict[str, str] = {}
    folders: dict[str, str] = {}
    for number, (package, inner, outer) in enumerate(_go_packages(workspace)):
        folders[f"p{number}"] = package.relative_to(workspace).as_posix()
        for when, first, of in (("before", "0", inner or outer), ("after", "zzzz_", outer)):
            own = folder / f"{first}{name}_{number}_test.go"
            own.write_text(_go_text(of, name, when, f"p{number}"), encoding="utf-8")
            replaced[str(package / own.name)] = str(own)
    if not folders:
        return call, None
    overlay = folder / "overlay.json"
    overlay.write_text(json.dumps({"Replace": replaced}), encoding="utf-8")
    tool = folder / "tool"
    tool.write_text(_GO_TOOL.format(name=name, folder=folder), encoding="utf-8")
    tool.chmod(0o755)
    argv = tuple(_go_chosen(call.argv, name))
    at = argv.index("test", call.at) + 1
    options = (f"-overlay={overlay}", f"-toolexec={tool}")
    return replace(call, argv=(*argv[:at], *options, *argv[at:])), Controls(name, folders=folders)


def _go_packages(workspace: Path) -> Iterator[tuple[Path, str, str]]:
    """Folders with tests, the package of those that lie inside (empty: none do), and of those that lie outside."""
    for folder, folders, files in os.walk(workspace):
        skipped = ("testdata", "vendor", "node_modules")
        folders[:] = sorted(each for each in folders if each not in skipped and not each.startswith(_GO_IGNORED))
        tests = [each for each in sorted(files) if each.endswith("_test.go") and not each.startswith(_GO_IGNORED)]
        texts = [(content_in(Path(folder), each) or b"").decode("utf-8", "replace") for each in tests]
        named = [match[1] for text in texts if not _CONSTRAINED.search(text) and (match := _PACKAGE.search(text))]
        if named:
            inner = next((each for each in named if not each.endswith("_test")), "")
            yield Path(folder), inner, f"{named[0].removesuffix('_test')}_test"


def _go_text(package: str, name: str, when: str, place: str) -> str:
    """A file with one test that passes, which runs the pair itself: the tool reads of both, and counts neither."""
    meant = {"AFX_PACKAGE": package, "AFX_NAME": name, "AFX_WHEN": when, "AFX_PLACE": place}
    return _filled("go_controls.txt", meant)


def _go_chosen(argv: Sequence[str], name: str) -> Iterator[str]:
    """The words of the command; where some tests are chosen by name, ours are too."""
    is_pattern = False
    for word in argv:
        flag, is_, pattern = word.partition("=")
        is_run = flag.lstrip("-") in ("run", "test.run") and flag.startswith("-")
        chosen = f"|^Test_{name}"
        yield f"{word}{chosen}" if is_pattern or (is_run and is_ and pattern) else word
        is_pattern = is_run and not is_


_CARRIERS: Mapping[str, Callable[[Call, Path, str, Path], tuple[Call, Controls | None]]] = {
    "pytest": _pytest,
    "unittest": _unittest,
    "node-test": _node,
    "jest": _jest,
    "vitest": _vitest,
    "mocha": _mocha,
    "go": _go,
}
