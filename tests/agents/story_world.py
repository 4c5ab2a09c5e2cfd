"""A tiny repository, a scripted model and the whole program, for the stories beside this module. No test is here.

Fake: the models, and with them the keys. Real: `agent-fox` and the agents' programs as processes, clones, git, tests,
the sandbox where there is one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from agent_fox.testing.model_server import ModelServer
from agent_fox.testing.model_server.records import Exchange
from agent_fox.testing.model_server.script import Script
from agent_fox.testing.worlds import SOURCE, git, rows
from tests.agents.programs import program

SECONDS = 300.0
KEY, OTHER_KEY = "sk-of-a-person-0123456789", "sk-of-another-vendor-987654321"
MODEL, CHEAP, OTHER = "claude-sonnet-4-5", "claude-haiku-4-5", "gpt-5.6-sol"
CODER, VERIFIER = "01_cart:1", "01_cart:2"

REQUIREMENTS = "### Requirement 1: Sum\n1. [01-REQ-1.1] WHEN given prices, `total` SHALL return their sum.\n"
TASKS = (
    "## Test Commands\n- Spec tests: `{python} -m pytest -q tests`\n\n## Tasks\n- [ ] 1. Write cart.py\n"
    "  - [ ] 1.1 Sum\n    - _Requirements: 01-REQ-1.1_\n"
)
TEST = 'from cart import total\n\n\ndef test_total():\n    """01-REQ-1.1"""\n    assert total([1, 2]) == 3\n'
RIGHT = "def total(prices):\n    return sum(prices)\n"
WRONG = "def total(prices):\n    return 7\n"
FILES = {
    "tests/test_cart.py": TEST,
    "pytest.ini": "[pytest]\npythonpath = .\naddopts = -p no:cacheprovider\n",
    ".agent-fox/specs/01_cart/requirements.md": REQUIREMENTS,
    ".agent-fox/specs/01_cart/tasks.md": TASKS.format(python=sys.executable),
    ".gitignore": "__pycache__/\n.agent-fox/state.db*\n.agent-fox/logs/\n.agent-fox/issues/\n.agent-fox/run.lock\n",
}
SETTINGS = """\
[plan]
pre_review = false
audit_review = false
[infrastructure]
first_wait = 0.2
longest_wait = 0.5
"""
CLAUDE = f'backend = "claude"\nmodel = "{MODEL}"\n'
CODEX = f'backend = "codex"\nmodel = "{OTHER}"\n'
CHECKS = 'backend = "checks"\n'
Cli = Literal["claude", "codex"]
AGENT: Mapping[Cli, str] = {"claude": CLAUDE, "codex": CODEX}

Action = Mapping[str, Any]
Step = Mapping[str, Any]
_SCRIPT = TypeAdapter(Script)
_TOTAL = re.compile(r"\d+\.\d+")

TESTS: Action = {"mcp": "run_unit_tests"}
DONE: Action = {"say": "Done."}


def write(text: str, path: str = "cart.py") -> Action:
    return {"write": path, "text": text}


def shell(line: str) -> Action:
    return {"run": ["sh", "-c", line]}


def step(*actions: Action, node: str = CODER, **more: Any) -> Step:  # noqa: ANN401 - what a script file may hold
    return {"node": node, "actions": list(actions), **more}


GOOD = (write(RIGHT), TESTS, DONE)
"""What a good coder does."""


def settings(coder: str = CLAUDE, verifier: str = CHECKS, more: str = "") -> str:
    """The text of the settings; `coder` and `verifier` are the lines of their tables."""
    return f"{SETTINGS}{more}[agents.coder]\n{coder}[agents.verifier]\n{verifier}"


@dataclass
class Scene:
    """One repository, its home, and the model that its agents ask. `variables` go to every `agent-fox`."""

    base: Path
    server: ModelServer
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        return self.base / "repo"

    def environment(self, **variables: str) -> dict[str, str]:
        folders = [str(found.parent) for name in ("claude", "codex") if (found := program(name))]
        return {
            "PATH": os.pathsep.join([*folders, str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONPATH": str(SOURCE),
            "HOME": str(self.base / "home"),
            "XDG_STATE_HOME": str(self.base / "state"),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "COLUMNS": "160",
            "ANTHROPIC_BASE_URL": self.server.url,
            "ANTHROPIC_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{self.server.url}/v1",
            "OPENAI_API_KEY": OTHER_KEY,
            **self.variables,
            **variables,
        }

    def fox(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "agent_fox.cli.main", *words]
        return subprocess.run(
            command, cwd=self.root, env=self.environment(**variables), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=SECONDS, check=False,
        )  # fmt: skip

    def run(self, *options: str, ends: int, **variables: str) -> str:
        """`agent-fox run`, which must end with this exit code; all that it said. Nothing of it runs any more."""
        done = self.fox("run", *options, **variables)
        said = done.stdout + done.stderr
        assert "Traceback" not in said, said
        assert done.returncode == ends, (done.returncode, said[-6000:], self.logs()[-6000:])
        assert self.leftovers() == []
        assert self.is_sane()
        return said

    def begin(self, *options: str) -> subprocess.Popen[bytes]:
        """`agent-fox run` in the background, in a process group of its own."""
        quiet = subprocess.DEVNULL
        command = [sys.executable, "-m", "agent_fox.cli.main", "run", *options]
        with self.complaints.open("wb") as err:
            return subprocess.Popen(
                command, cwd=self.root, env=self.environment(), stdin=quiet, stdout=quiet, stderr=err,
                start_new_session=True,
            )  # fmt: skip

    @property
    def complaints(self) -> Path:
        """The standard error of what was begun last."""
        return self.base / "stderr"

    def document(self, *words: str) -> dict[str, Any]:
        done = self.fox(*words, "--json")
        found = json.loads(done.stdout)
        assert isinstance(found, dict), done.stdout
        return found

    def explain(self, node: str = CODER) -> dict[str, Any]:
        return self.document("explain", node)

    def told(self, node: str = CODER) -> str:
        """What `explain` says to a person."""
        return self.fox("explain", node, "--all").stdout

    def sessions(self, node: str = CODER) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.explain(node)["sessions"]
        return found

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        return rows(self.root, sql)

    def decisions(self, node: str = CODER) -> list[str]:
        return [str(kind) for (kind,) in self.rows(f"SELECT kind FROM decisions WHERE node_id = '{node}' ORDER BY id")]

    def logs(self) -> str:
        return "".join(
            f"== {log.name}\n{log.read_text(encoding='utf-8')}"
            for log in sorted((self.root / ".agent-fox/logs").glob("*.log"))
        )

    def configure(self, text: str) -> None:
        (self.root / ".agent-fox/config.toml").write_text(text, encoding="utf-8")
        git(self.root, "commit", "-qam", "other settings")

    def landed(self, path: str) -> str | None:
        shown = ["git", "show", f"agent-fox/integration:{path}"]
        done = subprocess.run(shown, cwd=self.root, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else None

    def leftovers(self, seconds: float = 10.0) -> list[str]:
        """Processes that know of this world, other than the test itself, after at most so many seconds."""
        give_up = time.monotonic() + seconds
        while (found := processes_of(self.base)) and time.monotonic() < give_up:
            time.sleep(0.1)
        return found

    def is_sane(self) -> bool:
        """Whether git finds nothing wrong, nothing is half merged, and a person's own files are untouched."""
        git(self.root, "fsck", "--no-dangling", "--no-progress")
        return not (self.root / ".git/MERGE_HEAD").exists() and git(self.root, "status", "--porcelain") == ""

    def tip(self) -> str:
        return git(self.root, "rev-parse", "agent-fox/integration")

    def asked(self, node: str = CODER, attempt: int = 1) -> list[Exchange]:
        return [one for one in self.server.requests if (one.node, one.attempt) == (node, attempt)]


def processes_of(base: Path) -> list[str]:
    """Process id and command line of each process whose environment or command line names the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        words = _words_of(process)
        if str(base) in words and int(process.name) != os.getpid():
            found.append(f"{process.name} {words[:160]}")
    return found


def _words_of(process: Path) -> str:
    try:
        told = (process / "cmdline").read_bytes() + b"\0" + (process / "environ").read_bytes()
    except OSError:
        return ""
    return told.replace(b"\0", b" ").decode("utf-8", "replace")


def text_of(exchanges: Sequence[Exchange]) -> str:
    return "\n".join(json.dumps(one.body) for one in exchanges)


def played(*steps: Step) -> Script:
    return _SCRIPT.validate_python({"step": list(steps)})


def repository(root: Path, config: str, files: Mapping[str, str]) -> None:
    for name, text in {**FILES, ".agent-fox/config.toml": config, **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")


class Stage:
    """Makes scenes, and ends their servers. A fixture gives one to each test."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self._servers: list[ModelServer] = []

    def scene(self, config: str, *steps: Step, files: Mapping[str, str] | None = None) -> Scene:
        base = self.base / f"world{len(self._servers)}"
        (base / "home").mkdir(parents=True)
        repository(base / "repo", config, files or {})
        return Scene(base, self._serve(*steps))

    def again(self, scene: Scene, *steps: Step) -> Scene:
        """The same repository with another model."""
        return Scene(scene.base, self._serve(*steps), scene.variables)

    def _serve(self, *steps: Step) -> ModelServer:
        server = ModelServer(played(*steps))
        server.__enter__()
        self._servers.append(server)
        return server

    def close(self) -> None:
        for server in self._servers:
            server.__exit__(None, None, None)
        for folder in self.base.glob("world*/state"):
            shutil.rmtree(folder, ignore_errors=True)


def staged(base: Path) -> Iterator[Stage]:
    stage = Stage(base)
    try:
        yield stage
    finally:
        stage.close()
