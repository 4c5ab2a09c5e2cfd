"""Running a requirement's tests in throw-away copies of a tree, in which something was broken, put back or laid over.

Every run is one of the verifier's own, in its sandbox, with controls around the tests; beside its report stands what
each test executed and opened, and the error that each ended with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system.files import content_in, remove_tree
from agent_fox.verifier.ground.cases import Outcome
from agent_fox.verifier.mutants.languages import language_of
from agent_fox.verifier.proof.held import held
from agent_fox.verifier.proof.sides import copied, is_inline_test, is_made_by_tools, is_test_side, made_by_tests
from agent_fox.verifier.proof.warm import NAME, Cold
from agent_fox.verifier.suites.asking import with_tests
from agent_fox.verifier.suites.recording import document_at, lay_probe, lay_recorder, rows_in, window_of
from agent_fox.verifier.suites.resting import COLLECTING
from agent_fox.verifier.suites.running_suites import attempt_of
from agent_fox.verifier.suites.suite_reading import read_attempt

if TYPE_CHECKING:
    from agent_fox.verifier.ground.cases import Case
    from agent_fox.verifier.proof.warm import Warm
    from agent_fox.verifier.running.commands import Ground
    from agent_fox.verifier.suites.calls import Call
    from agent_fox.verifier.suites.resting import Window
    from agent_fox.verifier.suites.suite import SuiteRun

LEAST_SECONDS = 20.0
TIMES_SLOWER = 4.0
SECONDS_A_FAILURE = 0.05
"""What a failure may take longer than a pass: its traceback, and its text in the report."""

_ERROR = regex(r"\b((?:[\w.]*\.)?\w*(?:Error|Exception|Failure))\b")

_OF_VITEST = regex(r"^ *❯ (?:.* )?([^\s:/][^\s:]*):(\d+):\d+ *$", re.MULTILINE)
"""A frame of Vitest's, which tells paths below the project's folder: ` ❯ total src/total.ts:2:9`."""

_OF_JAVA = regex(r"^\s+at (?:[\w.@$-]*/)*((?:\w+\.)*)[\w$]+\.[\w$<>]+\(([\w$]+\.java):\d+\)", re.MULTILINE)
"""A frame of Java's, which tells a package and the name of a file: `\tat shop.Basket.first(Basket.java:17)`."""

_OF_RUST = regex(r"panicked at (?:'.*', )?([^\s':]+\.rs):(\d+):\d+")
"""Where a thread of Rust panicked; the only frame that is told."""

_OTHER_WORDS = "\nnote: panic did not contain expected string\n"
"""What Rust says of a test that names the words of a panic, where others come: by that it noticed.
What a test prints itself stands before its panic."""

_CANCELLED = "test did not finish before its parent and was cancelled"
"""What Node says of the tests of a suite whose own hook failed."""

_NODE = ("node-test", "jest", "vitest", "mocha")
MEASURED = ("pytest", "unittest", *_NODE)
"""Runners of which is seen what each test executes."""

Executed = tuple[str, int]
"""A function: its file, and its first line; of JavaScript where it starts, in UTF-16 code units."""

Opened = tuple[str, str]
"""A file, and the project's file whose code opened it; empty where that is not known."""

WHOLE = -1
"""In the place of where a function starts: some of the file, by a runner that executes another text than it has."""

_TRANSFORMING = ("jest", "vitest")


@dataclass(frozen=True, slots=True)
class End:
    """How one test ended. `kind`: the class of its error; `frames`: the project's files that it came through, and
    `lines` the line in each, from 1, where that is known.

    `is_unbegun`: it failed before its own body, in what was to be there for it; `is_apart`: in what is made for other
    tests, too, before or behind it.
    """

    outcome: Outcome
    kind: str = ""
    message: str = ""
    frames: tuple[str, ...] = ()
    is_unbegun: bool = False
    lines: tuple[int, ...] = ()
    is_apart: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """What a run showed. `why_not`: why it showed nothing. A test that is missing in `ends` did not run to its end.

    `broken_files`: those that could not be collected, and why. `windows`: what was seen of each test, of what finds the
    tests of a file, and between them, by as many `processes`.
    """

    ends: Mapping[str, End] = field(default_factory=dict)
    executed: Mapping[str, frozenset[Executed]] = field(default_factory=dict)
    opened: Mapping[str, frozenset[Opened]] = field(default_factory=dict)
    why_not: str = ""
    cases: tuple[Case, ...] = ()
    broken_files: Mapping[str, str] = field(default_factory=dict)
    windows: Mapping[str, Window] = field(default_factory=dict)
    processes: int = 0

    def executed_by(self, tests: Iterable[Case]) -> frozenset[Executed]:
        """By these tests, and outside of any (imports, for all of them)."""
        return frozenset().union(*(self.executed.get(id, frozenset()) for id in ["", *(test.id for test in tests)]))

    def opened_by(self, tests: Iterable[Case]) -> frozenset[Opened]:
        return frozenset().union(*(self.opened.get(id, frozenset()) for id in ["", *(test.id for test in tests)]))


class Lab:
    """Copies of one tree, made as they are needed below the ground's private folder. `warm`: a start that its runs may
    share.
    """

    def __init__(self, ground: Ground, source: Path, name: str, warm: Warm | None = None) -> None:
        self._ground, self._source, self._name, self._warm = ground, source, name, warm
        self._numbers = count(1)
        self._left_out = made_by_tests(source, ground.was_there) if source == ground.workspace else ()

    def run(
        self,
        run: SuiteRun,
        tests: Sequence[Case] | None,
        changes: Mapping[str, bytes | str | None],
        *,
        is_recorded: bool = False,
    ) -> Seen:
        """Run these tests of a run (None: all) in a copy in which files have these contents (None: are gone).

        is_recorded: note what each executes and opens, which costs as much as the run in some programs.
        Several threads may ask at once: each run has a copy, and folders, of its own.
        """
        if self._warm is not None and self._warm.serves(run):
            with suppress(Cold):
                return self._forked(self._warm, run, tests, changes, is_recorded=is_recorded)
        name = f"{self._name}-{next(self._numbers)}"
        tree = self._ground.private / "trees" / name
        lent = copied(self._source, tree, self._left_out)
        try:
            for path, text in changes.items():
                _put(tree / path, text)
            ground = replace(self._ground, workspace=tree, also=(*self._ground.also, *lent))
            return _observed(run, tests, ground, name, is_recorded=is_recorded)
        finally:
            remove_tree(tree, ignore_errors=True)

    def _forked(
        self, warm: Warm, run: SuiteRun, tests: Sequence[Case] | None, changes: Mapping[str, bytes | str | None], *,
        is_recorded: bool,
    ) -> Seen:  # fmt: skip
        """The same from a start that runs share. Raises Cold: also where it changed what it could not have changed in a
        sandbox of its own.
        """
        with warm.cleared(run.seconds):
            if not {*copied(self._source, warm.tree, self._left_out)} <= {*warm.lent}:
                raise Cold
            for path, text in changes.items():
                _put(warm.tree / path, text)
            before = _stamps(warm.tree)
            ground = replace(self._ground, workspace=warm.tree, launch=warm.launch)
            seen = _observed(run, tests, ground, NAME, is_recorded=is_recorded)
            if _stamps(warm.tree) != before:
                raise Cold
            return seen


def _stamps(tree: Path) -> dict[Path, tuple[int, ...]]:
    """The settings of tests below a tree, and the folders that they lie in, each with what changes when it is written
    or moved.
    """
    paths = {each for path in held(tree) for each in (path, *path.parents) if tree in each.parents}
    return {path: (s.st_ino, s.st_mode, s.st_size, s.st_ctime_ns) for path in paths for s in [path.lstat()]}


def _put(place: Path, content: bytes | str | None) -> None:
    if content is None:
        place.unlink(missing_ok=True)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_symlink():
        place.unlink()
    place.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape"))


def _observed(run: SuiteRun, tests: Sequence[Case] | None, ground: Ground, name: str, *, is_recorded: bool) -> Seen:
    if run.command is None:
        return Seen(why_not="the command could not be started")
    selected = (with_tests(run.call, tests) if run.call and tests is not None else None) or run.call
    folder = ground.folder(name) / "seen"
    asked = probed(selected, folder, ground.workspace, is_recorded=is_recorded) if selected else None
    fails = SECONDS_A_FAILURE * len(run.cases if tests is None else tests)
    timeout = min(ground.order.timeout, max(LEAST_SECONDS, TIMES_SLOWER * run.seconds + fails))
    attempt = attempt_of(run.command, asked, ground, name, timeout)
    suite = read_attempt(attempt)
    if suite.unattempted is not None:
        return Seen(why_not=suite.unattempted.reason)
    return _joined(suite, folder, ground.workspace)


def probed(call: Call, folder: Path, root: Path, *, is_recorded: bool = True) -> Call:
    """The call with the recorder where it is asked for, and in pytest the probe; as it is for tools that have none."""
    folder.mkdir(parents=True)
    if call.tool in _NODE:
        recorded = replace(call, variables={**call.variables, "NODE_V8_COVERAGE": str(folder / "v8")})
        return recorded if is_recorded else call
    if call.tool not in ("pytest", "unittest"):
        return call
    if is_recorded:
        lay_recorder(folder, root)
    probing = replace(call, variables={**call.variables, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"})
    if call.tool != "pytest":
        return probing
    return probing.with_more(
        "-p", lay_probe(folder), "--tb=native"
    )  # its own form reads the whole file again for each failure


def _joined(suite: SuiteRun, folder: Path, root: Path) -> Seen:
    read_ends, tool = document_at(folder / "ends.json"), suite.call.tool if suite.call else ""
    over = [case for case in suite.cases if not case.is_cut_off]
    ends = ended_within(over, {case.id: _end(case, read_ends.get(case.id, {}), root, tool) for case in over})
    executed: dict[str, set[Executed]] = {}
    opened: dict[str, set[Opened]] = {}
    windows, processes = rows_in(folder)
    for name, rows in windows.items():
        test = "" if name.startswith(COLLECTING) else name
        for row in rows:
            executed.setdefault(test, set()).update((file, line) for file, line in row["executed"])
            opened.setdefault(test, set()).update(
                (file, by) for file, by in row["opened"] if not is_made_by_tools(file)
            )
    for test, (file, start) in v8_executed(folder / "v8", root, suite.cases):
        executed.setdefault(test, set()).add((file, WHOLE if tool in _TRANSFORMING else start))
    why_not = "; ".join(each.what for each in suite.broken) if not suite.cases else ""
    broken = {each.file: each.error or each.what for each in suite.broken if each.file}
    done = {test: frozenset(paths) for test, paths in executed.items()}
    seen = {test: frozenset(paths) for test, paths in opened.items()}
    looked = {name: window_of(rows) for name, rows in windows.items()}
    return Seen(ends, done, seen, why_not, suite.cases, broken, looked, processes)


def ended_within(cases: Iterable[Case], ends: Mapping[str, End]) -> dict[str, End]:
    """The ends, of which that of a test around others says what made one of these fail: by itself it says only that."""
    inner: dict[tuple[str, ...], list[End]] = {}
    for case in cases:
        for depth in range(1, len(case.classes) + 1 if case.outcome is Outcome.FAILED else 0):
            inner.setdefault((case.file, *case.classes[:depth]), []).append(ends[case.id])
    within = ((case, inner.get((case.file, *case.classes, case.name), ())) for case in cases)
    return {
        **ends,
        **{
            case.id: min(others, key=lambda end: not all(map(is_test_side, end.frames)))
            for case, others in within
            if others
        },
    }


def _end(case: Case, record: Mapping[str, Any], root: Path, tool: str) -> End:
    if "frames" not in record:
        return end_by_text(case, root, tool)
    frames = ((Path(file), line) for file, line in record["frames"])
    inside = [(file.relative_to(root).as_posix(), line) for file, line in frames if file.is_relative_to(root)]
    message = record.get("message", "") or case.message
    files, lines = tuple(file for file, _ in inside), tuple(line for _, line in inside)
    kind, is_unbegun, is_apart = record.get("kind", ""), record.get("phase") == "setup", bool(record.get("apart"))
    return End(case.outcome, kind, message, files, is_unbegun, lines, is_apart)


def end_by_text(case: Case, root: Path, tool: str) -> End:
    """By what its report has of the error and its stack: of JavaScript the innermost frame is the first."""
    placed = rf"{re.escape(str(root))}/([^\s:)'\"]+)(?:(?::|\", line )(\d+))?"
    places = re.findall(placed, case.text) or _OF_VITEST.findall(case.text)
    stack = [(file, int(line or 0)) for file, line in places] or [
        (file, 0) for file in compiled_frames(case.text, root)
    ]
    frames = [(file, line) for file, line in stack if not file.startswith("node_modules/")]
    frames = frames if tool in ("pytest", "unittest") else frames[::-1]
    is_asserted = tool == "cargo" and case.message.startswith("assertion ")
    kind = "AssertionError" if is_asserted else next(iter(_ERROR.findall(f"{case.message}\n{case.text}")), "")
    files, lines = tuple(file for file, _ in frames), tuple(line for _, line in frames)
    is_apart = tool in _NODE and (_CANCELLED in case.message or (bool(frames) and is_for_others(root, *frames[-1])))
    return End(case.outcome, kind, case.message, files, lines=lines if all(lines) else (), is_apart=is_apart)


def is_for_others(root: Path, file: str, line: int) -> bool:
    """Whether a line stands in a hook that is run once for several tests; where that is not known, it does not."""
    language, content = language_of(file), content_in(root, file)
    try:
        text = content.decode("utf-8", "replace") if content else ""
        return language is not None and language.is_for_others(text, line)
    except ImportError:
        return False


def compiled_frames(text: str, root: Path) -> Iterator[str]:
    """Of Java's first stack, and where Rust panicked: the files of the tree."""
    for package, name in _OF_JAVA.findall(text.partition("\nCaused by:")[0]):
        yield from _found(root, package.replace(".", "/") + name)
    for path, line in () if _OTHER_WORDS in f"{text}\n".rpartition("panicked at")[2] else _OF_RUST.findall(text):
        yield from (file for file in _found(root, path) if not is_inline_test(root, file, int(line)))


def _found(root: Path, path: str) -> Iterator[str]:
    """The file of a tree with this end of its path, which a build tool tells from a folder of its own."""
    places = (root / path,) if (root / path).is_file() else root.glob(f"**/{path}")
    yield from (place.relative_to(root).as_posix() for place in [*places][:1])


def v8_executed(folder: Path, root: Path, cases: Sequence[Case]) -> Iterator[tuple[str, Executed]]:
    """What Node's own coverage saw, for each test of the file that the process ran; of other processes, for all."""
    tests: dict[str, list[str]] = {}
    for case in cases:
        tests.setdefault(case.file, []).append(case.id)
    for path in sorted(folder.glob("*.json")):
        scripts = {
            _place(str(each.get("url", "")), root): each["functions"] for each in document_at(path).get("result", ())
        }
        ran = [test for file in scripts for test in tests.get(file, ())] or [""]
        for file, functions in scripts.items():
            starts = [each["ranges"][0]["startOffset"] for each in functions if each["ranges"][0]["count"]]
            yield from ((test, (file, start)) for start in starts if file for test in ran)


def _place(url: str, root: Path) -> str:
    """The path below the tree; empty elsewhere, and for what a tool wrote, ran and took away."""
    path = Path(unquote(url.removeprefix("file://")))
    is_own = path.is_relative_to(root) and "node_modules" not in path.parts and path.is_file()
    return path.relative_to(root).as_posix() if is_own else ""
