"""`python -m tools.contact`: what `agent-fox verify` says when it meets a project for the first time.

The projects are real and pinned in `contact.toml`; nothing of them is kept here. Each is installed as a person would
install it, tested by its own command, verified as it is, and verified again with one thing planted: a failing test, a
file that cannot be compiled, a finding of its linter, a test that demands less. Each row of `build/contact.jsonl` is a
project; one that stands there already is not met again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PINNED = ROOT / "tools" / "contact.toml"
ROWS = ROOT / "build" / "contact.jsonl"
FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agent-fox" / "contact"
FETCHED = "https://github.com/{repo}"
NOT_HAD, NOT_INSTALLED, INSTALLED, MET = "cannot be had here", "cannot be installed here", "installed", "met"
FOUND, ELSEWHERE, MISSED, NOT_OFFERED = "found", "elsewhere", "missed", "not offered"
KINDS = {
    "failing": ("run_unit_tests", "test_failure"),
    "broken": ("run_compile", "compile_error"),
    "linted": ("run_lint", "lint_failure"),
    "weakened": ("run_static_policy_checks", ""),
}
"""What is planted: the tool whose result is to show it, and the kind of failure, empty where any kind will do."""

UNABLE = ("skipped", "errored")
"""Statuses of a step that says it could not do its job."""

PASSED, AGREED, UNABLE_WORD = "passed", "no, as its own command", "could not, said why"
WRONG, TOO_KIND, BROKEN = "no, though its own command passes", "passed, though its own command fails", "no answer"
RIGHT = (PASSED, AGREED, UNABLE_WORD)
"""What `verify` may say of the tree as it is, held against the project's own command; the other three are wrong."""

TOO_LONG = -1000
"""The exit code of a command that did not end in its time."""


@dataclass(frozen=True, slots=True)
class Way:
    """How projects of one kind are worked with. The texts are appended to a file; `weaken`: pattern, replacement."""

    failing: str
    broken: str
    linted: str = ""
    weaken: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True)
class Project:
    """One project, pinned. `setup` and `hand` are lines that a person would type in its folder.

    hand: its own command for its tests. tests, source: where things are planted. linter: whether it configures one
    that the profile knows. options: what `verify` is told besides. remedy: lines that follow the advice of a `no`.
    fails, weakens: a pattern in `tests` and its replacement, by which a test of theirs fails or demands less, where
    what the way plants does not fit.
    """

    name: str
    group: str
    way: str
    repo: str
    commit: str
    hand: str
    tests: str
    source: str
    setup: Sequence[str] = ()
    linter: bool = False
    options: Sequence[str] = ()
    remedy: Sequence[str] = ()
    fails: Sequence[str] = ()
    weakens: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """What one `verify` said. `code` is None where it did not end in time. `why`: what kept it from passing."""

    code: int | None
    status: str
    seconds: float
    why: list[str] = field(default_factory=list)
    is_unable: bool = False
    crash: str = ""


@dataclass(slots=True)
class Row:
    """What came of one project. `planted`: what was planted, and FOUND, ELSEWHERE, MISSED or NOT_OFFERED."""

    name: str
    group: str
    state: str
    told: str = ""
    hand: int | None = None
    hand_seconds: float = 0
    clean: dict[str, Any] = field(default_factory=dict)
    remedied: dict[str, Any] = field(default_factory=dict)
    planted: dict[str, str] = field(default_factory=dict)
    seen: dict[str, list[str]] = field(default_factory=dict)
    crashes: list[str] = field(default_factory=list)


def main(arguments: Sequence[str]) -> int:
    """Meet every project that is selected and has no row yet. The exit code is 1 where one crashed the verifier."""
    options = parser().parse_args(arguments)
    ways, projects = read_pinned(PINNED)
    if not options.table:
        done = {row["name"] for row in read_rows(options.rows)}
        for project in chosen(projects, options):
            if project.name not in done:
                row = asdict(met(project, ways[project.way], options))
                print(line_of(row), flush=True)
                if row["state"] != INSTALLED:
                    options.rows.parent.mkdir(parents=True, exist_ok=True)
                    with options.rows.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
    rows = read_rows(options.rows)
    print("\n".join(table(rows, projects)))
    return 1 if any(row["crashes"] for row in rows) or not rows else 0


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="python -m tools.contact", description=__doc__)
    found.add_argument("--folder", type=Path, default=FOLDER, help="where the projects are put and installed")
    found.add_argument("--sources", type=Path, help="a folder of repositories that are here already, by NAME")
    found.add_argument("--rows", type=Path, default=ROWS, help="the file of rows; another one meets all of them again")
    found.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these projects or groups")
    found.add_argument("--part", metavar="N/M", help="the Nth of M parts of the projects")
    found.add_argument("--seconds", type=float, default=300, help="how long one command may take")
    found.add_argument("--install", action="store_true", help="only get and install them, and write no row")
    found.add_argument("--table", action="store_true", help="only print the table of the rows that are there")
    return found


def read_pinned(path: Path) -> tuple[dict[str, Way], list[Project]]:
    """Ways and projects of the data file. Raises SystemExit for a name that stands twice, or an unknown way."""
    read = tomllib.loads(path.read_text(encoding="utf-8"))
    ways = {name: Way(**way) for name, way in read["way"].items()}
    projects = [Project(**row) for row in read["project"]]
    names = [project.name for project in projects]
    wrong = [project.name for project in projects if names.count(project.name) > 1 or project.way not in ways]
    if wrong:
        raise SystemExit(f"{path}: {', '.join(wrong)}: the name stands twice, or its way is not there")
    return ways, projects


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows that are there; of a project that was met twice the last one."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return list({row["name"]: row for row in map(json.loads, lines)}.values())


def chosen(projects: Sequence[Project], options: argparse.Namespace) -> list[Project]:
    """Those that are named, or all; of them one part. Raises SystemExit for a name that no project has."""
    known = {name for project in projects for name in (project.name, project.group)}
    if unknown := set(options.only) - known:
        raise SystemExit(f"{', '.join(sorted(unknown))}: neither a project nor a group of {PINNED.name}")
    found = [one for one in projects if not options.only or {one.name, one.group} & set(options.only)]
    if options.part is None:
        return found
    number, count = map(int, options.part.split("/"))
    return found[number - 1 :: count]


def met(project: Project, way: Way, options: argparse.Namespace) -> Row:
    """Get and install one project where that was not done, then judge it."""
    place = options.folder / project.name
    root, mark = place / "checkout", place / "installed"
    row = Row(project.name, project.group, INSTALLED)
    if not mark.exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        if told := failed_line(obtained(project, root, options.sources)):
            row.state, row.told = NOT_HAD, told
            return row
        for line in project.setup:
            if told := failed_line(typed(line, root, 2 * options.seconds)):
                row.state, row.told = NOT_INSTALLED, f"{line}: {told}"
                return row
        mark.touch()
    if not options.install:
        judge(row, project, way, root, options.seconds)
    return row


def obtained(project: Project, root: Path, sources: Path | None) -> subprocess.CompletedProcess[str]:
    """Clone the project with its history and check out the pinned commit."""
    here = sources / project.name if sources else None
    source = str(here) if here and here.exists() else FETCHED.format(repo=project.repo)
    cloned = started(["git", "clone", "--quiet", source, str(root)], root.parent, 300)
    return cloned if cloned.returncode else started(["git", "checkout", "--quiet", project.commit], root, 60)


def judge(row: Row, project: Project, way: Way, root: Path, seconds: float) -> None:
    """Fill the row: by hand, as it is, after its remedy, and with each thing planted."""
    row.state = MET
    started(["git", "checkout", "--quiet", "--", project.tests, project.source], root, 60)  # as an ended run left them
    begun = time.monotonic()
    row.hand = typed(project.hand, root, seconds).returncode
    row.hand_seconds = round(time.monotonic() - begun, 1)
    said, _ = verified(project, root, seconds)
    row.clean = asdict(said)
    said_all = [said]
    if said.code != 0 and project.remedy and not any(typed(line, root, seconds).returncode for line in project.remedy):
        said, _ = verified(project, root, seconds)
        row.remedied = asdict(said)
        said_all.append(said)
    for what in () if said.is_unable or said.crash else KINDS:
        found, seen, planted = looked_for(what, project, way, root, seconds)
        row.planted[what], row.seen[what] = found, seen
        said_all += planted
    row.crashes = [said.crash for said in said_all if said.crash]


def looked_for(what: str, project: Project, way: Way, root: Path, seconds: float) -> tuple[str, list[str], list[Said]]:
    """Plant one thing, verify, and take it back: FOUND and so on or BROKEN, the failures seen, and what was said."""
    path = project.tests if what in ("failing", "weakened") else project.source
    file = root / path
    before = file.read_bytes()
    plain, ends = plain_text(before.decode())
    planted = planted_text(plain, what, project, way)
    if planted is None or (what == "linted" and not project.linter):
        return NOT_OFFERED, [], []
    text, lines = planted
    file.write_text(text, encoding="utf-8", newline=ends)
    try:
        said, failures = verified(project, root, seconds)
    finally:
        file.write_bytes(before)
    tool, kind = KINDS[what]
    ours = [
        one for one in failures if one["file"] == path and (one["kind"] == kind or (not kind and one["tool"] == tool))
    ]
    found = FOUND if any(one["line"] in lines for one in ours) else ELSEWHERE if ours else MISSED
    found = found if said.code is not None and not said.crash else BROKEN
    seen = [f"{one['tool']} {one['kind']} {one['file']}:{one['line']}: {one['message'][:160]}" for one in failures[:6]]
    return (
        found,
        [] if found == FOUND else [f"lines {lines.start} to {lines.stop - 1}", said.status, *seen, *said.why[:3]],
        [said],
    )


def plain_text(text: str) -> tuple[str, str]:
    """A text whose lines end as the patterns take them for granted, and how they are to end when it is written."""
    is_dos = "\r\n" in text and text.count("\r\n") == text.count("\n")
    return (text.replace("\r\n", "\n"), "\r\n") if is_dos else (text, "\n")


def planted_text(text: str, what: str, project: Project, way: Way) -> tuple[str, range] | None:
    """The file with something planted, and the lines where it is; None where there is nothing to plant."""
    own = {"failing": project.fails, "weakened": project.weakens}.get(what)
    edits = [own] if own else way.weaken if what == "weakened" else []
    for pattern, replacement in edits:
        if match := re.search(pattern, text, re.MULTILINE):
            changed = text[: match.start()] + match.expand(replacement) + text[match.end() :]
            first = text.count("\n", 0, match.end() - len(match[0].lstrip())) + 1
            return changed, range(first, text.count("\n", 0, match.end()) + 2)
    if edits or what == "weakened":
        return None
    added: str = getattr(way, what)
    if not added:
        return None
    whole = text.rstrip("\n") + "\n\n"
    return whole + added, range(whole.count("\n") + 1, len((whole + added).splitlines()) + 1)


def verified(project: Project, root: Path, seconds: float) -> tuple[Said, list[dict[str, Any]]]:
    """What `agent-fox verify` says of the checkout, and every failure it tells, with its tool."""
    begun = time.monotonic()
    words = [str(Path(sys.executable).parent / "agent-fox"), "verify", "--json", *project.options]
    out = started(words, root, seconds)
    lasted = round(time.monotonic() - begun, 1)
    if out.returncode == TOO_LONG:
        return Said(None, "did not end in time", lasted), []
    try:
        report = json.loads(out.stdout)
        steps = report["steps"]
    except (ValueError, KeyError):
        told = last_line(out)
        is_crash = "Traceback" in out.stderr or out.returncode not in (1, 2)
        return Said(out.returncode, "no report", lasted, [told], not is_crash, told if is_crash else ""), []
    results = [step["result"] for step in steps]
    failures = [{"tool": one["verifierTool"], **failure} for one in results for failure in one["failures"]]
    bad = [step["result"] for step in steps if step["required"] and step["result"]["status"] != "passed"]
    why = [f"{one['verifierTool']} {one['status']}: {one['summary'][:300]}" for one in bad]
    is_unable = bool(bad) and all(one["status"] in UNABLE for one in bad)
    crash = last_line(out) if "Traceback" in out.stderr else ""
    return Said(out.returncode, report["status"], lasted, why, is_unable, crash), failures


def typed(line: str, root: Path, seconds: float) -> subprocess.CompletedProcess[str]:
    """Run a line as a shell would, in the project's folder."""
    return started(["bash", "-c", line], root, seconds)


def started(words: Sequence[str], place: Path, seconds: float) -> subprocess.CompletedProcess[str]:
    """Run a command without the variables of this environment's Python; the code is TOO_LONG where it did not end."""
    kept = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    environment = {**kept, "XDG_STATE_HOME": str(place.parent / "state"), "GIT_TERMINAL_PROMPT": "0", "CI": "true"}
    with subprocess.Popen(
        words, cwd=place, env=environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True, errors="replace",
    ) as process:  # fmt: skip
        try:
            out, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return subprocess.CompletedProcess(words, TOO_LONG, "", f"did not end in {seconds:g} s")
    return subprocess.CompletedProcess(words, process.returncode, out, errors)


def failed_line(out: subprocess.CompletedProcess[str]) -> str:
    """Why a command failed, by its last line; empty where it did not."""
    return last_line(out) if out.returncode else ""


def last_line(out: subprocess.CompletedProcess[str]) -> str:
    """The first line that says what went wrong, or the last of all."""
    printed = re.sub(r"\x1b\[[\d;]*m", "", f"{out.stdout}\n{out.stderr}")
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(?i)(npm )?\[?(err(or)?\b|fatal\b)", line)]
    return (errors or lines or [f"exit {out.returncode}"])[-1 if not errors else 0][:300]


def word(row: dict[str, Any], said: dict[str, Any]) -> str:
    """What `verify` said of the tree as it is, held against the project's own command, in words."""
    if not said or said["crash"] or said["code"] is None:
        return BROKEN
    if said["code"] == 0:
        return PASSED if row["hand"] == 0 else TOO_KIND
    if row["hand"] != 0:
        return AGREED
    return UNABLE_WORD if said["is_unable"] else WRONG


def line_of(row: dict[str, Any]) -> str:
    """What came of one project, on a line."""
    if row["state"] != MET:
        return f"{row['name']:<24} {row['state']}: {row['told'][:150]}"
    planted = ", ".join(f"{what} {found}" for what, found in row["planted"].items())
    why = "" if row["clean"]["code"] == 0 else f" ({'; '.join(row['clean']['why'])[:200]})"
    return f"{row['name']:<24} {word(row, row['clean'])}{why}; {planted}; {row['clean']['seconds']} s"


def table(rows: Sequence[dict[str, Any]], projects: Sequence[Project]) -> Iterator[str]:
    """By group, in Markdown: how many there are and were met, what was said rightly, what was found when planted.

    Below it, a line for each project of which something was said wrongly, not found, or could not be met.
    """
    columns = ("pinned", "not had", "not installed", "met", *RIGHT, "wrong", *KINDS, "crashes")
    yield "| | " + " | ".join(columns) + " |"
    yield "|---|" + "---:|" * len(columns)
    groups = list(dict.fromkeys(project.group for project in projects))
    for group in (*groups, "all"):
        names = {project.name for project in projects if group in (project.group, "all")}
        mine = [row for row in rows if row["name"] in names]
        there = [row for row in mine if row["state"] == MET]
        words = [word(row, row["clean"]) for row in there]
        states = [sum(row["state"] == state for row in mine) for state in (NOT_HAD, NOT_INSTALLED, MET)]
        right = [words.count(each) for each in RIGHT]
        planted = [found_of([row["planted"].get(what, NOT_OFFERED) for row in there]) for what in KINDS]
        crashes = sum(len(row["crashes"]) for row in there)
        cells = (len(names), *states, *right, len(there) - sum(right), *planted, crashes)
        yield f"| {group} | " + " | ".join(map(str, cells)) + " |"
    left = len(projects) - len({row["name"] for row in rows} & {project.name for project in projects})
    yield f"\nnot met yet: {left} of {len(projects)}"
    yield from (line_of(row) for row in rows if not is_right(row))


def is_right(row: dict[str, Any]) -> bool:
    """Whether a project was met, what was said of it is true, and all that was planted was found."""
    is_true = row["state"] == MET and word(row, row["clean"]) in RIGHT
    return is_true and all(found in (FOUND, NOT_OFFERED) for found in row["planted"].values())


def found_of(words: Sequence[str]) -> str:
    return f"{words.count(FOUND)} of {sum(each != NOT_OFFERED for each in words)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
