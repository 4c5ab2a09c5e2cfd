"""Another package joins in by its entry point alone; one that is broken is named in a line, and nothing is lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent_fox.testing.worlds import SOURCE, Req, World, commit_all, log, new_repository, rows, run_cli

PLUGINS = SOURCE / "examples" / "plugins"
NOTES = {
    "01_notes": "Notes\nN-1: keep this\nN-2: keep that\n",
    "02_never": "Never\nM-9: keep what cannot be kept\n",
}
AGENTS = "".join(f'[agents.{role}]\nbackend = "player"\n' for role in ("coder", "verifier", "reviewer"))

Done = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the template of every hook, installed by pip without a network; their sources stay as they are."""
    folder = tmp_path_factory.mktemp("installed")
    sources = [*shutil.copytree(PLUGINS, folder / "sources").iterdir()]
    offline = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", *offline, "--target", folder / "target", *sources],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder / "target"


def made_by_hand(folder: Path, source: str, name: str = "odd") -> Path:
    """A folder with a package of one module, as an installer would leave it."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[agent_fox]\n{name} = {name}_plugin\n")
    (folder / f"{name}_plugin.py").write_text(f"from agent_fox.plugins import hookimpl\n{source}")
    return folder


def with_plugin(root: Path, target: Path, *arguments: str) -> Done:
    return run_cli(root, *arguments, PYTHONPATH=f"{target}{os.pathsep}{SOURCE}")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A repository whose specs only the plugin can read, and whose agents and tracker only the plugin has."""
    root = tmp_path / "repo"
    for name, text in NOTES.items():
        folder = root / ".agent-fox" / "specs" / name
        folder.mkdir(parents=True)
        (folder / "notebook.txt").write_text(text)
    workspace = f"[workspace]\nstate = {json.dumps(str(tmp_path / 'state'))}\n"
    settings = f'{AGENTS}[tracker]\nkind = "journal"\n{workspace}'
    (root / ".agent-fox" / "config.toml").write_text(settings)
    (root / ".agent-fox" / ".gitignore").write_text("state.db*\nlogs/\nissues/\njournal.jsonl\ncrash.log\nrun.lock\n")
    new_repository(root)
    commit_all(root, "start")
    return root


def test_plan_reads_specs_in_the_plugins_dialect(notes: Path, installed: Path) -> None:
    document = json.loads(with_plugin(notes, installed, "plan", "--json").stdout)
    assert [(spec["name"], spec["dialect"]) for spec in document["specs"]] == [
        ("01_notes", "notebook"),
        ("02_never", "notebook"),
    ]
    assert [r["id"] for r in document["specs"][0]["requirements"]] == ["N-1", "N-2"]


def test_a_problem_in_the_plugins_dialect_names_file_and_line(notes: Path, installed: Path) -> None:
    (notes / ".agent-fox" / "specs" / "01_notes" / "notebook.txt").write_text("Notes\nN-1 keep this\n")
    done = with_plugin(notes, installed, "plan")
    assert done.returncode == 1
    assert ".agent-fox/specs/01_notes/notebook.txt:2: expected `ID: text`" in done.stdout


def test_doctor_knows_the_plugins_backend(notes: Path, installed: Path) -> None:
    assert with_plugin(notes, installed, "doctor").returncode == 0


def test_a_run_uses_the_plugins_backend_handler_and_tracker(notes: Path, installed: Path) -> None:
    done = with_plugin(notes, installed, "run")
    assert done.returncode == 2, done.stdout + done.stderr
    assert rows(notes, "SELECT spec_name, outcome FROM plan_nodes WHERE archetype = 'verifier' ORDER BY spec_name") == [
        ("01_notes", "verified"),
        ("02_never", "escalated"),
    ]
    assert set(rows(notes, "SELECT DISTINCT backend FROM sessions")) == {("player",)}
    counted = rows(notes, "SELECT data FROM events WHERE kind = 'review counted' ORDER BY id")
    assert [json.loads(str(data))["count"] for (data,) in counted] == [1, 2]
    (issue,) = [json.loads(line) for line in (notes / ".agent-fox" / "journal.jsonl").read_text().splitlines()]
    assert (issue["number"], issue["kind"], "M-9" in issue["title"]) == ("1", "file", True)
    assert rows(notes, "SELECT state FROM outbox") == [("done",)]


def test_a_run_uses_the_plugins_runner_and_records_it(notes: Path, installed: Path) -> None:
    done = with_plugin(notes, installed, "run", "--spec", "01_notes", "--engine", "nice://7")
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(rows(notes, "SELECT DISTINCT runner FROM launches")) == {("nice://7",)}


def test_an_engine_that_nobody_serves_is_named_and_nothing_is_started(notes: Path, installed: Path) -> None:
    done = with_plugin(notes, installed, "run", "--engine", "elsewhere://1")
    assert done.returncode == 1
    assert "engine 'elsewhere://1': no such runner" in done.stderr
    assert not (notes / ".agent-fox" / "state.db").exists()


def test_without_the_plugin_its_names_are_unknown_and_nothing_is_started(notes: Path) -> None:
    (notes / ".agent-fox" / "specs" / "01_notes" / "tasks.md").write_text("# Tasks\n\n- [ ] 1. Keep notes\n")
    done = run_cli(notes, "run")
    assert done.returncode == 1
    assert "there is no backend 'player'" in done.stderr
    assert not (notes / ".agent-fox" / "state.db").exists()


BACKEND = """
class Odd:
    name = "odd"
    def missing(self, agent, root): {missing}
    def argv(self, order, paths): return ["true"]
    def environment(self, order, paths): return {{}}
@hookimpl
def agent_fox_backends(): return [Odd()]
"""

UNUSABLE = {
    "raises at import": ("raise RuntimeError('no such luck')\n", "no such luck"),
    "leaves at import": ("raise SystemExit(0)\n", "SystemExit"),
    "imports what is not there": ("import not_installed_here\n", "not_installed_here"),
    "has a hook that nobody calls": ("@hookimpl\ndef agent_fox_backend(): return []\n", "agent_fox_backend"),
    "wants what a hook does not give": ("@hookimpl\ndef agent_fox_backends(settings): return []\n", "settings"),
    "has a hook that raises": ("@hookimpl\ndef agent_fox_backends(): raise ValueError('out of ink')\n", "out of ink"),
    "offers a wrong object": ("@hookimpl\ndef agent_fox_backends(): return [42]\n", "it gave 42"),
    "offers a class": ("class Odd:\n    name = missing = argv = environment = None\n"
                       "@hookimpl\ndef agent_fox_backends(): return [Odd]\n", "it gave <class"),
    "offers a dialect that is none": ("@hookimpl\ndef agent_fox_dialects(): return ['x']\n", "it gave 'x'"),
    "offers handlers of nothing": ("class H:\n    archetype = 'writer'\n    def handle_session(self, d, e): ...\n"
                                   "@hookimpl\ndef agent_fox_result_handlers(): return [H()]\n", "it gave <odd_pl"),
    "has a backend that cannot be asked": (BACKEND.format(missing="return 1 / 0"), "ZeroDivisionError"),
}  # fmt: skip


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path)


@pytest.mark.parametrize("case", UNUSABLE)
def test_a_plugin_that_cannot_be_used_is_named_in_one_line(world: Path, tmp_path: Path, case: str) -> None:
    source, reason = UNUSABLE[case]
    settings = world / ".agent-fox" / "config.toml"
    if source.startswith("\nclass Odd"):
        settings.write_text(settings.read_text().replace('backend = "command"', 'backend = "odd"'))
    done = with_plugin(world, made_by_hand(tmp_path / "site", source), "run")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("agent-fox: plugin odd (odd) failed in ")
    assert reason in line
    assert line.endswith("; repair it or uninstall it")
    assert not (world / ".agent-fox" / "state.db").exists()


def test_a_tracker_that_nobody_offers_is_known_before_anything_starts(world: Path) -> None:
    with (world / ".agent-fox" / "config.toml").open("a") as settings:
        settings.write('[tracker]\nkind = "carrier pigeon"\n')
    done = run_cli(world, "run")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "'carrier pigeon': no such tracker" in done.stderr
    assert not (world / ".agent-fox" / "state.db").exists()


DIALECT = """
class Odd:
    name = "odd"
    def recognises(self, folder): return folder.name == "02_odd"
    def read(self, folder, root): raise UnicodeError("not my letters")
@hookimpl
def agent_fox_dialects(): return [Odd()]
"""


def test_a_spec_that_the_plugins_dialect_fails_to_read_hides_no_other(world: Path, tmp_path: Path) -> None:
    (world / ".agent-fox" / "specs" / "02_odd").mkdir()
    site = made_by_hand(tmp_path / "site", DIALECT)
    done = with_plugin(world, site, "plan")
    assert done.returncode == 1
    assert "01_a (agent-fox)" in done.stdout
    assert ".agent-fox/specs/02_odd: plugin odd (odd) failed in dialect 'odd'" in done.stdout
    assert with_plugin(world, site, "run", "--skip-broken").returncode == 2
    assert rows(world, "SELECT outcome FROM plan_nodes WHERE archetype = 'verifier'") == [("verified",)]


TRACKER = """
class Odd:
    name = "odd"
    def newest(self): raise OSError("the post office is shut")
    def deliver(self, effect): {deliver}
@hookimpl
def agent_fox_trackers(): return {{"odd": lambda root: Odd()}}
"""


@pytest.mark.parametrize("deliver", ["raise OSError('the post office is shut')", "return 'posted'"])
def test_a_tracker_that_fails_loses_neither_the_run_nor_the_effect(tmp_path: Path, deliver: str) -> None:
    story = World(
        {"01_a": [Req("01-REQ-1.1", right_at=9)]}, settings='[retry]\nattempts = 1\n[tracker]\nkind = "odd"\n'
    )
    root = story.build(tmp_path)
    done = with_plugin(root, made_by_hand(tmp_path / "site", TRACKER.format(deliver=deliver)), "run")
    assert done.returncode == 2, done.stderr
    ((state, note),) = rows(root, "SELECT state, note FROM outbox")
    assert state == "unknown"
    assert "plugin odd (odd) failed in tracker 'odd'" in str(note)


HANDLER = """
from agent_fox.core.ids import Archetype
from agent_fox.engine.running.results import Verifiers
class Odd:
    archetype = Archetype.VERIFIER
    def handle_session(self, docket, ended):
        handled = Verifiers().handle_session(docket, ended)
        {then}
@hookimpl
def agent_fox_result_handlers(): return [Odd()]
"""


@pytest.mark.parametrize("then", ["raise KeyError('nothing in the drawer')", "return None"])
def test_a_handler_that_fails_rolls_back_and_nothing_is_paid_twice(world: Path, tmp_path: Path, then: str) -> None:
    done = with_plugin(world, made_by_hand(tmp_path / "site", HANDLER.format(then=then)), "run")
    assert done.returncode == 1
    assert "agent-fox: plugin odd (odd) failed in the result handler of verifiers" in done.stderr
    assert "Traceback" not in done.stderr
    assert rows(world, "SELECT kind FROM decisions ORDER BY id") == [("Land",)]
    assert rows(world, "SELECT count(*) FROM verification_results") == [(0,)]
    assert run_cli(world, "run").returncode == 0
    assert [row["role"] for row in log(world)] == ["coder", "verifier"]


DISK_IS_FULL = """docket.db.execute("PRAGMA max_page_count = 1")
        docket.db.execute("INSERT INTO events (at, kind, data) VALUES ('', '', ?)", ["x" * 9_000_000])
"""


def test_a_full_disk_under_a_handler_is_not_the_plugins_fault(world: Path, tmp_path: Path) -> None:
    done = with_plugin(world, made_by_hand(tmp_path / "site", HANDLER.format(then=DISK_IS_FULL)), "run")
    assert done.returncode != 0
    assert "the disk is full: free some space" in done.stderr
    assert "plugin odd" not in done.stderr
