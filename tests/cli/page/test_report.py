"""What `agent-fox report` writes and prints. How the page looks and behaves is tested in a browser, in `tests/web`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from agent_fox.testing.worlds import run_cli
from tests.cli.conftest import Finished


def test_the_file_holds_the_same_numbers_as_status(finished: Finished, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "page.html"
    told = finished.tell("report", "--output", str(path))
    assert f"report: {path} (open it in a browser: {path.as_uri()})" in told
    model = json.loads(re.findall(r'id="model">(.*?)</script>', path.read_text(), re.DOTALL)[0])
    status = json.loads(finished.tell("status", "--json"))
    assert {name: status[name] for name in model["account"]} == model["account"]
    assert told.startswith(f"{model['banner']['answer']}: {model['banner']['because']}\n")


def test_json_is_the_whole_document_and_writes_nothing(finished: Finished) -> None:
    before = sorted(finished.root.rglob("*.html"))
    whole = json.loads(finished.tell("report", "--json"))
    assert whole["schema"] == "agent-fox.run/1"
    assert any(session["log"] for session in whole["sessions"])
    assert sorted(finished.root.rglob("*.html")) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--run", "99"), "run 99: there is no such run; `agent-fox status` names the last"),
        (("--output", "/proc/none/page.html"), "cannot be written"),
    ],
)
def test_what_cannot_be_is_one_clear_line(finished: Finished, arguments: tuple[str, ...], said: str) -> None:
    done = run_cli(finished.root, "report", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr


def test_a_link_that_was_planted_in_its_place_is_not_followed(finished: Finished, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    report = finished.root / ".agent-fox" / "report.html"
    report.unlink(missing_ok=True)
    report.symlink_to(tmp_path / "victim")
    assert run_cli(finished.root, "report").returncode == 0
    assert (tmp_path / "victim").read_text() == "mine"
    assert "<html" in report.read_text()
    assert not report.is_symlink()
