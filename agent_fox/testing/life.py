"""The life of an issue, shown on the demonstration: filed, commented, repaired in part, closed with proof.

`python -m agent_fox.testing.life TARGET [--fixtures DIR]` makes the demonstration in TARGET, starts a stand-in for
GitHub on loopback (no account is needed, and nothing leaves the machine), and runs the real `agent-fox run --tracker
github` four times; before each but the first a person gives the node that failed a new budget. It ends with 1 where an
issue did not live as it should.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from agent_fox.core.values import dataclass
from agent_fox.testing.demo import FIXTURES, make_demo
from agent_fox.testing.github import GitHubFake, serve
from agent_fox.testing.worlds import program

REPOSITORY, TOKEN = "octo/shop", "ghp_only_for_the_stand_in"
NODE = "03_split:2"
MOST_SECONDS = 300
SHOWN_LINES = 22


@dataclass(frozen=True, slots=True)
class Chapter:
    """One run, and how the issue must stand after it: open or not, with how many comments."""

    title: str
    exit_code: int
    is_open: bool
    comments: int


CHAPTERS = (
    Chapter("the first night: two requirements fail for one cause, and one issue is filed", 2, True, 0),
    Chapter("the second night, with a new budget: failing again is a comment, no second issue", 2, True, 1),
    Chapter("the third night: part of it is repaired, and the issue says so", 2, True, 2),
    Chapter("the fourth night: everything is proven, and the issue is closed with the proof", 0, False, 3),
)


def make_life(target: Path, fixtures: Path = FIXTURES) -> Path:
    """The demonstration with other steps for the node whose issue is told about; its root."""
    root = make_demo(target, fixtures)
    script = root / ".agent-fox" / "agents.toml"
    steps = script.read_text(encoding="utf-8").split("[[step]]")
    kept = [step for step in steps if f'node = "{NODE}"' not in step]
    script.write_text("[[step]]".join(kept) + (fixtures / "life.toml").read_text(encoding="utf-8"), encoding="utf-8")
    return root


def tell(root: Path, fake: GitHubFake, environ: Mapping[str, str]) -> list[str]:
    """Run every chapter and show it. Gives what went otherwise than it should, in sentences."""
    wrong: list[str] = []
    for number, chapter in enumerate(CHAPTERS, 1):
        say(f"\n== {number}. {chapter.title}\n")
        if number > 1:
            command(root, environ, "reset", NODE)
        code = command(root, environ, "run", "--tracker", "github")
        show(fake, is_first=number == 1)
        wrong += complaints(number, chapter, code, fake)
    return wrong


def command(root: Path, environ: Mapping[str, str], *arguments: str) -> int:
    """One command as a person types it; its output goes to the screen."""
    say(f"$ agent-fox {' '.join(arguments)}")
    return subprocess.run(program(*arguments), cwd=root, env=environ, timeout=MOST_SECONDS, check=False).returncode


def show(fake: GitHubFake, *, is_first: bool) -> None:
    """The issues as they stand on the stand-in: the whole beginning of a new one, else the newest comment of each."""
    for issue in fake.issues:
        state = "open" if issue.is_open else f"closed as {issue.face.reason}"
        say(f"\n-- on GitHub: #{issue.number} {issue.face.title} ({state}, {len(issue.comments)} comments)")
        text = issue.face.body if is_first or not issue.comments else issue.comments[-1].body
        lines = (text or "").splitlines()[1:]
        say("\n".join(f"   {line}" for line in lines[:SHOWN_LINES]) + ("\n   ..." if len(lines) > SHOWN_LINES else ""))


def complaints(number: int, chapter: Chapter, code: int, fake: GitHubFake) -> list[str]:
    standing = [(issue.is_open, len(issue.comments)) for issue in fake.issues]
    wrong = [] if code == chapter.exit_code else [f"run {number} exited with {code}, not {chapter.exit_code}"]
    if standing != [(chapter.is_open, chapter.comments)]:
        wrong.append(f"after run {number} the issues (open, comments) are {standing}")
    return wrong


def surroundings(url: str) -> dict[str, str]:
    """What the program is started with: the settings of the tracker as variables."""
    tracker = {"BASE_URL": url, "REPOSITORY": REPOSITORY}
    return {
        **os.environ, "AGENT_FOX_GITHUB_TOKEN": TOKEN,
        **{f"AGENT_FOX__TRACKER__{name}": value for name, value in tracker.items()},
    }  # fmt: skip


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m agent_fox.testing.life")
    parser.add_argument("target", type=Path, help="a new or empty folder")
    parser.add_argument("--fixtures", type=Path, default=FIXTURES, help="where the demonstration's files are")
    given = parser.parse_args(arguments)
    root = make_life(given.target, given.fixtures)
    fake = GitHubFake(repository=REPOSITORY, token=TOKEN)
    with serve(fake) as url:
        wrong = tell(root, fake, surroundings(url))
    for line in wrong:
        sys.stderr.write(f"{line}\n")
    if not wrong:
        say("\nOne cause, one issue: filed, commented, repaired in part, closed with proof.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
