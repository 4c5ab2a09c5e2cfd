"""A coder that is ended before it is done: what it had made is there for its next attempt, and for a person."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest

from agent_fox.testing.worlds import Req, World, git, landed, rows, run_cli
from tests.engine.test_kill import deadly_git
from tests.stories.scene import PROVEN, begin, run

REF = "refs/agent-fox/cut-off/01_calc-coder-1/1"
CODER = """
import json, os, pathlib, shutil, sys
brief = pathlib.Path(os.environ["AGENT_FOX_BRIEF_JSON"])
told, proof = json.loads(brief.read_text()), pathlib.Path("proof")
beside = pathlib.Path(os.environ["STORY"]).parent / f"brief-{told['attempt']}"
beside.mkdir()
for file in brief.parent.glob("*.*"):
    shutil.copy(file, beside)
if told["attempt"] == 1:
    pathlib.Path("half.txt").write_text("API_KEY=hunter2-is-secret\\n")
    pathlib.Path("huge.bin").write_bytes(b"x" * 2_000_000)
    sys.exit("out of turns")
pathlib.Path("seen.txt").write_text(str(pathlib.Path("half.txt").exists()))
proof.mkdir(exist_ok=True)
(proof / "01-REQ-1.1.txt").write_text("right" if told["attempt"] == 3 else "wrong")
"""


def world(folder: Path, retry: str = "") -> Path:
    """One requirement, which the third attempt gets right; the first ends by its exit status, half done."""
    (folder / "coder.py").write_text(CODER)
    command = json.dumps([sys.executable, "-I", "-S", str(folder / "coder.py")])
    environment = f'{{ STORY = {json.dumps(str(folder / "tools" / "x"))}, MY_SECRET = "hunter2-is-secret" }}'
    coder = f'[agents.coder]\nbackend = "command"\ncommand = {command}\nenvironment = {environment}\n'
    sizes = f"[workspace]\nstate = {json.dumps(str(folder / 'state'))}\nlargest_file_mib = 1\n"
    return World({"01_calc": [Req("01-REQ-1.1")]}, settings=f"{coder}{sizes}[retry]\n{retry}\n").build(folder)


def brief(root: Path, attempt: int, name: str) -> str:
    path = root.parent / "tools" / f"brief-{attempt}" / name
    return path.read_text() if path.exists() else ""


def test_the_next_attempt_is_handed_what_was_done_and_the_one_after_it_is_not(tmp_path: Path) -> None:
    root = world(tmp_path)
    said = run(root, ends=PROVEN).stdout
    commit, base = git(root, "rev-parse", REF), git(root, "rev-parse", f"{REF}~1")
    shown = f"git diff {base[:12]} {commit[:12]}"
    assert f"what it had done (1 file, +1 -0 lines) is kept as {REF}" in said
    assert "not kept: huge.bin (1.9 MiB, too large)" in said
    told = json.loads(brief(root, 2, "brief.json"))["cut_off"]
    assert (told["attempt"], told["commit"], told["command"], told["is_laid_out"]) == (1, commit, shown, False)
    assert told["files"] == [{"path": "half.txt", "added": 1, "removed": 0}]
    text = brief(root, 2, "brief.md")
    assert "## What the session that was cut off had done\n\nAttempt 1 had changed 1 file" in text
    for part in (f"All of it: `{shown}`", "- `half.txt` +1 -0", told["file"], "huge.bin (1.9 MiB, too large)"):
        assert part in text, part
    assert Path(told["file"]).name == "cut-off.md"
    assert "API_KEY=[redacted]" in brief(root, 2, "cut-off.md")
    assert "hunter2-is-secret" not in brief(root, 2, "cut-off.md") + text
    assert landed(root, "seen.txt") == "False"
    assert ("cut_off" in json.loads(brief(root, 3, "brief.json")), brief(root, 3, "cut-off.md")) == (False, "")
    assert f"is kept as {REF} until " in run_cli(root, "explain", "01_calc:1", "--all").stdout


def test_an_attempt_may_continue_and_what_it_lands_is_its_own_work_on_the_branch(tmp_path: Path) -> None:
    root = world(tmp_path, 'resume = "continue"')
    run(root, ends=PROVEN)
    assert json.loads(brief(root, 2, "brief.json"))["cut_off"]["is_laid_out"] is True
    assert "Your workspace starts from these files" in brief(root, 2, "brief.md")
    assert (landed(root, "seen.txt"), landed(root, "half.txt")) == ("True", "API_KEY=hunter2-is-secret\n")
    assert (landed(root, "huge.bin"), brief(root, 2, "cut-off.md")) == (None, "")
    pinned, work = rows(
        root, "SELECT pinned_commit, landed_commit FROM sessions WHERE attempt = 2 AND base_commit > ''"
    )[0]
    assert git(root, "rev-parse", f"{work}~1") == pinned


@pytest.mark.parametrize("is_done_first", [False, True], ids=["before the reference", "before the record"])
def test_killed_while_it_is_kept_it_is_kept_by_the_next_run_and_told_once(tmp_path: Path, is_done_first: bool) -> None:
    """With `fresh` it is kept all the same, and the next attempt is told nothing."""
    root = world(tmp_path, 'resume = "fresh"')
    path = deadly_git(tmp_path / "bin", "*update-ref*refs/agent-fox/cut-off*", 1, is_done_first=is_done_first)
    assert begin(root, PATH=path).wait(60) == -signal.SIGKILL
    run(root, ends=PROVEN, PATH=path)
    ((commit, ref),) = rows(root, "SELECT data ->> 'commit', data ->> 'ref' FROM events WHERE kind = 'cut off'")
    assert (git(root, "rev-parse", REF), ref) == (commit, REF)
    assert "cut_off" not in json.loads(brief(root, 2, "brief.json"))
    assert rows(root, "SELECT attempt, status FROM sessions WHERE archetype = 'coder' ORDER BY id") == [
        (1, "failed"), (2, "completed"), (3, "completed"),
    ]  # fmt: skip
