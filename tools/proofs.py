"""`python -m tools.proofs`: may each case of `fixtures/gates` be called proven, and is it? Fails where one is not.

A case is a small repository as a person committed it, the files that a coder then writes, and what `agent-fox run` may
say at the end. The coder is a script; everything else is real. What a person would have to install is asked for in
`needs`: such cases are left out, and counted, where it is not there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path

from agent_fox.core.verdicts.verdict import Unproven
from agent_fox.system.own_folders import made_folder
from agent_fox.system.processes import processors
from agent_fox.testing import prefork

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "fixtures" / "gates"
INSTALLED = ROOT / "build" / "gates" / "node_modules"
PROVEN, NOT_PROVEN, BROKEN = "proven", "not proven", "could not be run"
PROGRAMS = {"python": "python", "javascript": "node", "typescript": "node", "go": "go", "java": "mvn", "rust": "cargo"}
JUPITER = Path.home() / ".m2" / "repository" / "org" / "junit" / "jupiter" / "junit-jupiter-engine" / "5.10.2"
"""Where Maven keeps the version of JUnit that the cases of Java ask for; they run offline."""

REQUIREMENT = 'WHEN called with a name, `greet` SHALL return "Hello, NAME!".'
LONGEST_TOLD = 600
ENDED = (0, 2)
"""Exit codes of a run that came to its end."""

UNSEEN = ("NOT SEEN BY THE RULE", "NOT DECIDED HERE")
"""How the reason of a case begins that the rule cannot see, or cannot decide yet: it is shown and fails nothing."""

AGENT = """
import json, os, pathlib
files, removed, summary = json.loads({work!r})
if os.environ["AGENT_FOX_ARCHETYPE"] == "reviewer":
    print(json.dumps({{"findings": []}}))
else:
    for name, text in files.items():
        path = pathlib.Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in removed:
        pathlib.Path(name).unlink(missing_ok=True)
    pathlib.Path(os.environ["AGENT_FOX_RESULT"]).write_text(json.dumps({{"summary": summary}}))
"""


@dataclass(frozen=True)
class Case:
    """One case. `kind` is the name of its file: how the test or the work is gamed, or in which way it is honest."""

    language: str
    kind: str
    name: str
    may: str
    why: str
    command: str
    committed: dict[str, str]
    written: dict[str, str] = field(default_factory=dict)
    requirement: str = REQUIREMENT
    summary: str = ""
    task: str = "Write it"
    removed: list[str] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)

    @property
    def is_honest(self) -> bool:
        return self.may == PROVEN

    @property
    def is_unseen(self) -> bool:
        return self.why.startswith(UNSEEN)


@dataclass(frozen=True)
class Ended:
    """How a case ended: PROVEN, NOT_PROVEN, BROKEN, or empty where it was left out; `told`: the last words about it."""

    case: Case
    said: str
    told: str = ""

    @property
    def is_wrong(self) -> bool:
        is_other = bool(self.said) and self.said != self.case.may
        return self.said == BROKEN or self.is_called_vacuous or (is_other and not self.case.is_unseen)

    @property
    def is_called_vacuous(self) -> bool:
        """An honest test may be undecided; that it cannot fail would be untrue."""
        return self.case.is_honest and Unproven.VACUOUS_TEST in self.told


def main(arguments: Sequence[str]) -> int:
    """Decide every case that is selected. The exit code is 1 where one is decided wrongly, or there was none."""
    options = parser().parse_args(arguments)
    cases = chosen(list(read_cases(CASES)), options)
    with ThreadPoolExecutor(options.jobs) as pool:
        ended = list(pool.map(partial(decided, keep=options.keep), cases))
    print("\n".join(rows(ended)))
    return 1 if any(one.is_wrong for one in ended) or not any(one.said for one in ended) else 0


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="python -m tools.proofs", description=__doc__)
    found.add_argument(
        "--select", nargs="+", default=[], metavar="WORDS", help="those whose kind or name has these words"
    )
    found.add_argument("--language", nargs="+", default=[], metavar="NAME", help="cases of these languages")
    found.add_argument("--part", metavar="SEED", help="a tenth of the cases, which this seed chooses")
    found.add_argument(
        "--each", type=int, metavar="N", help="at most so many of each kind and language, another choice each day"
    )
    found.add_argument("--jobs", type=int, default=processors(), help="how many cases are decided at the same time")
    found.add_argument("--keep", action="store_true", help="leave the repositories of cases that are decided wrongly")
    return found


def read_cases(folder: Path) -> Iterator[Case]:
    """All cases, by language and kind. Raises SystemExit for a file that is none, or a name that stands twice."""
    seen: set[tuple[str, str]] = set()
    for path in sorted(folder.glob("*/*.toml")):
        for row in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
            case = Case(path.parent.name, path.stem, **row)
            if (case.language, case.name) in seen or case.may not in (PROVEN, NOT_PROVEN):
                raise SystemExit(f"{path}: {case.name!r} stands twice, or may be {case.may!r}")
            seen.add((case.language, case.name))
            yield case


def chosen(cases: Sequence[Case], options: argparse.Namespace) -> list[Case]:
    found = [case for case in cases if not options.language or case.language in options.language]
    told = {id(case): f"{case.kind}: {case.name}" for case in found}
    found = [case for case in found if not options.select or any(words in told[id(case)] for words in options.select)]
    if options.part is not None:
        return random.Random(options.part).sample(found, max(1, len(found) // 10))
    return found if options.each is None else of_each(found, options.each)


def of_each(cases: Sequence[Case], most: int) -> list[Case]:
    """At most so many of each kind and language. Which ones are taken goes round by the day."""
    kinds: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        kinds.setdefault((case.language, case.kind), []).append(case)
    today = date.today().toordinal() * most
    taken = [[mine[(today + number) % len(mine)] for number in range(min(most, len(mine)))] for mine in kinds.values()]
    print(f"{sum(map(len, taken))} of {len(cases)} cases, at most {most} of each kind; all of them: make proofs ALL=1")
    return [case for mine in taken for case in mine]


def decided(case: Case, *, keep: bool = False) -> Ended:
    """Run one case in a repository of its own."""
    if missing := [name for name in (PROGRAMS[case.language], *case.needs) if not is_there(name)]:
        return Ended(case, "", f"not there: {', '.join(missing)}")
    made, began = None if keep else made_folder("proofs"), time.monotonic()
    top = Path(made.name if made else tempfile.mkdtemp(prefix="kept-proofs-"))
    try:
        root = built(case, top)
        out = run(root, "agent-fox", "run")
    except subprocess.TimeoutExpired:
        return Ended(case, BROKEN, "it did not end")
    if out.returncode not in ENDED:
        return Ended(case, BROKEN, f"exit {out.returncode}: {(out.stderr or out.stdout)[-600:]} {top if keep else ''}")
    said = PROVEN if out.returncode == 0 else NOT_PROVEN
    ended = Ended(case, said, "" if said == case.may else last_words(root, out.stdout))
    if keep and ended.is_wrong:
        print(f"{case.name}: {root}")
    else:
        shutil.rmtree(top, ignore_errors=True)
    seconds = f"{time.monotonic() - began:4.0f} s"
    word = "WRONG" if ended.is_wrong else "right"
    print(f"{word:5}  {seconds}  {case.language:10}  {case.may:10}  {case.name}", flush=True)
    return ended


def is_there(need: str) -> bool:
    """A program, or a package that is installed once for all cases."""
    place = JUPITER if need == "maven-junit" else INSTALLED / need
    return shutil.which(need) is not None if need in {*PROGRAMS.values(), "make"} else place.exists()


def last_words(root: Path, printed: str) -> str:
    """What is said of the requirement, or else of the run."""
    told = run(root, "agent-fox", "explain", "01-REQ-1.1").stdout
    return (told or printed).strip()


def built(case: Case, top: Path) -> Path:
    """The repository as the person committed it, with the spec and the scripted coder."""
    root, agent = top / "repo", top / "agent.py"
    root.mkdir()
    run(root, "git", "init", "-q", "-b", "main")
    spec = ".agent-fox/specs/01_case"
    tasks = f"- [ ] 1. {case.task}\n  - [ ] 1.1 {case.task}\n    - _Requirements: 01-REQ-1.1_\n"
    files = {
        ".gitignore": "__pycache__/\n.pytest_cache/\nnode_modules/\ntarget/\n",
        f"{spec}/requirements.md": f"### Requirement 1: It\n1. [01-REQ-1.1] {case.requirement}\n",
        f"{spec}/tasks.md": f"## Test Commands\n- Spec tests: `{case.command}`\n\n## Tasks\n{tasks}",
    }
    for name, text in {**files, **case.committed}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    agent.write_text(AGENT.format(work=json.dumps([case.written, case.removed, case.summary or "did what was asked"])))
    done = run(root, "agent-fox", "init", "--agent", "command", "--", sys.executable, str(agent))
    if done.returncode:
        raise SystemExit(f"{case.name}: {done.stderr}")
    settings = root / ".agent-fox" / "config.toml"
    has_packages = any((INSTALLED / need).exists() for need in case.needs)
    link = f"[workspace]\nlink = {['node_modules'] if has_packages else []}\n"
    settings.write_text(settings.read_text().replace("[workspace]\n", link))
    run(root, "git", "add", "-A")
    run(root, "git", "commit", "-qm", "a spec and its tests")
    if has_packages:  # installed once; every case has them as a person would, every checkout gets a link
        shutil.copytree(INSTALLED, root / "node_modules", symlinks=True, copy_function=linked)
    return root


def linked(source: str, target: str) -> str:
    """The same file under another name; a copy where that cannot be."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target


def run(root: Path, *words: str, seconds: float = 300) -> subprocess.CompletedProcess[str]:
    who = {f"GIT_{role}_{what}": "gates@example.com" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    place = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "XDG_STATE_HOME": f"{root.parent}/state",
    }
    environment = {**os.environ, **who, **place}
    if words[0] == "agent-fox":
        return prefork.run(words[1:], cwd=root, env=environment, timeout=seconds)
    return subprocess.run(
        words, cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=seconds,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def rows(ended: Sequence[Ended]) -> Iterator[str]:
    """What was decided wrongly and why, then both rates by language and kind, and what was left out."""
    for one in ended:
        if one.is_wrong or (one.case.is_unseen and one.said != one.case.may):
            yield f"\n{one.case.language}: {one.case.name}: may be {one.case.may}, is {one.said}"
            yield f"  {one.case.why}\n  {one.told[-LONGEST_TOLD:]}"
    yield f"\n{'language':<12}{'kind':<32}{'decided rightly':>16}"
    counts = Counter((one.case.language, one.case.kind) for one in ended if one.said)
    right = Counter((one.case.language, one.case.kind) for one in ended if one.said and one.said == one.case.may)
    for (language, kind), count in sorted(counts.items()):
        yield f"{language:<12}{kind:<32}{right[language, kind]:>7} of {count}"
    for honest, words in ((False, "gamed or empty, not proven"), (True, "honest, proven")):
        mine = [one for one in ended if one.case.is_honest is honest and one.said]
        yield f"{words}: {sum(one.said == one.case.may for one in mine)} of {len(mine)}"
    yield f"honest, called vacuous: {sum(one.is_called_vacuous for one in ended)}"
    for why, count in sorted(Counter(one.told for one in ended if not one.said).items()):
        yield f"left out: {count}, {why}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
