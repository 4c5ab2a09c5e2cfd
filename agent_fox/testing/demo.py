"""The demonstration: a small real project with specs and scripted agents, made into a repository of its own.

`python -m agent_fox.testing.demo TARGET [--fixtures DIR]` makes it and prints where it is. Runs no session.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

_PLACES = [folder / "fixtures" / "demo" for folder in (Path(__file__).parents[2], Path(__file__).parent)]
FIXTURES = next(filter(Path.is_dir, _PLACES), _PLACES[0])
"""The demonstration's files: of the repository that this is, or as the installed package brings them."""
_STATE = ".agent-fox"
_NOT_TRACKED = "state.db*\nlogs/\ncrash.log\nrun.lock\n"
_GIT = ("git", "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false")
_PERSON = ("-c", "user.name=shopkeeper", "-c", "user.email=shopkeeper@localhost")


def make_demo(target: Path, fixtures: Path = FIXTURES) -> Path:
    """Make the demonstration's repository in `target`, which must be new or empty; its root, resolved.

    The agents and the tests find `python`, with pytest, where this process has it. Raises FileNotFoundError
    without fixtures, FileExistsError where something is in the way, CalledProcessError where git refuses.
    """
    if not (fixtures / "project").is_dir():
        raise FileNotFoundError(f"the demonstration is not at {fixtures}; name its folder with --fixtures")
    if target.exists() and any(target.iterdir()):
        raise FileExistsError(f"{target} is not empty; name a new folder")
    shutil.copytree(fixtures / "project", target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    _lay_out_specs(target / _STATE, fixtures)
    _commit_all(target)
    return target.resolve()


def _lay_out_specs(state: Path, fixtures: Path) -> None:
    shutil.copytree(fixtures / "specs", state / "specs")
    for name in ("agents.toml", "04_receipt.checks.json"):
        shutil.copyfile(fixtures / name, state / name)
    settings = (fixtures / "config.toml").read_text(encoding="utf-8")
    (state / "config.toml").write_text(settings.replace("{path}", _search_path()), encoding="utf-8")
    (state / ".gitignore").write_text(_NOT_TRACKED, encoding="utf-8")


def _search_path() -> str:
    """PATH on which this interpreter is the first `python`, for a TOML string."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return path.replace("\\", "\\\\").replace('"', '\\"')


def _commit_all(target: Path) -> None:
    for arguments in (
        ("init", "-q", "-b", "main"),
        ("add", "-A"),
        (*_PERSON, "commit", "-q", "-m", "A small shop, and what is asked of it"),
    ):
        subprocess.run([*_GIT, *arguments], cwd=target, check=True, capture_output=True, text=True)


def main(arguments: list[str]) -> int:
    """Make the demonstration where the arguments say; 1 and one line where that is impossible."""
    parser = argparse.ArgumentParser(prog="python -m agent_fox.testing.demo", description=make_demo.__doc__)
    parser.add_argument("target", type=Path, help="a new or empty folder")
    parser.add_argument("--fixtures", type=Path, default=FIXTURES, help="where the demonstration's files are")
    given = parser.parse_args(arguments)
    try:
        place = make_demo(given.target, given.fixtures)
    except OSError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"git refused: {error.stderr.strip()}\n")
        return 1
    sys.stdout.write(f"{place}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
