"""Other people's agent programs, fetched into a cache folder, so that the tests can drive the real ones.

`python -m tools.agent_clis FOLDER [NAME...]` fetches those named, or all: claude, codex, gemini, opencode, mini, and
claude-agent-acp, codex-acp and qwen, which are spoken with by the Agent Client Protocol.
What is there already in the version wanted is not fetched again. Exit code 75: a registry could not be reached.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

NPM = {
    "claude": "@anthropic-ai/claude-code@2.1.330",
    "codex": "@openai/codex@0.169.0",
    "gemini": "@google/gemini-cli@0.61.0",
    "opencode": "opencode-ai@1.18.33",
    "claude-agent-acp": "@agentclientprotocol/claude-agent-acp@0.101.0",
    "codex-acp": "@zed-industries/codex-acp@0.16.0",
    "qwen": "@qwen-code/qwen-code@0.24.4",
}
"""Programs for Node, in the versions that the adapters were tried with."""

PIP = {"mini": ("mini-swe-agent==2.4.6", "mcp>=2")}
STAMP = "fetched.json"
SECONDS = 900
NOT_FETCHED = 75
"""The exit code for a registry that cannot be reached: `EX_TEMPFAIL` of sysexits."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.agent_clis", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="which of them; all where none is named")
    given = parser.parse_args(arguments)
    unknown = set(given.names) - {*NPM, *PIP}
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join((*NPM, *PIP))}")
    try:
        fetch(given.folder.resolve(), given.names or [*NPM, *PIP])
    except (subprocess.SubprocessError, OSError) as error:
        print(f"the agents' programs cannot be fetched: {error}", file=sys.stderr)
        return NOT_FETCHED
    return 0


def fetch(folder: Path, names: list[str]) -> None:
    """Fetch what is not there in its version. Raises SubprocessError, OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    have = read_stamp(folder)
    packages = [NPM[name] for name in names if name in NPM and have.get(name) != NPM[name]]
    if packages:
        print(f"fetching {', '.join(packages)} into {folder}", file=sys.stderr)
        fetch_npm(folder, [*packages, *(have[name] for name in have if name in NPM and name not in names)])
    for name in names:
        if name in PIP and have.get(name) != " ".join(PIP[name]):
            print(f"fetching {' '.join(PIP[name])} into {folder}", file=sys.stderr)
            fetch_pip(folder / name, PIP[name])
    wanted = {name: NPM.get(name) or " ".join(PIP[name]) for name in names}
    (folder / STAMP).write_text(json.dumps(have | wanted, indent=1), encoding="utf-8")


def read_stamp(folder: Path) -> dict[str, str]:
    """Which versions were fetched whole, by name."""
    try:
        found: dict[str, str] = json.loads((folder / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def fetch_npm(folder: Path, packages: list[str]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm is not installed; install Node")
    patience = ["--fetch-retries=1", "--fetch-timeout=60000"]
    words = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", *patience]
    subprocess.run([*words, "--prefix", str(folder), *packages], check=True, timeout=SECONDS, cwd=folder)


def fetch_pip(folder: Path, packages: tuple[str, ...]) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True, timeout=SECONDS)
    pip = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *packages], check=True, timeout=SECONDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
