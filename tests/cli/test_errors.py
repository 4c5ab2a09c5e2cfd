"""Which exception leads to which line and which exit code."""

from __future__ import annotations

import errno
from importlib import import_module
from pathlib import Path

import click
import pytest

from agent_fox.cli.errors import LOWER, UserError, known, report
from agent_fox.cli.exits import Exit
from agent_fox.engine.planning.from_settings import RunRefused


@pytest.mark.parametrize(("name", "code"), LOWER.items())
def test_every_exception_named_in_the_table_is_there(name: str, code: Exit) -> None:
    module, kind = name.rsplit(".", 1)
    assert known(getattr(import_module(module), kind)) is code


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UserError("no plan; make one"), 1, "no plan; make one"),
        (UserError("stalled", Exit.STUCK), 4, "stalled"),
        (click.UsageError("no such option"), 1, "no such option"),
        (click.Abort(), 130, "interrupted"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (
            OSError(errno.ENOSPC, "No space left on device", "state.db"),
            4,
            "state.db: No space left on device; free some space",
        ),
        (UserError("two\nlines \x1b[31mred"), 1, "two lines  [31mred"),
    ],
)
def test_a_foreseen_error_is_one_line(
    error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(error) == code
    assert capsys.readouterr() == ("", f"agent-fox: {line}\n")


def test_all_that_is_wrong_at_the_start_of_a_run_is_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(RunRefused("a.md:1: no id\nb.md:2: no\x1b id")) == 1
    assert capsys.readouterr().err == "agent-fox: a.md:1: no id\nagent-fox: b.md:2: no  id\n"


def test_an_unforeseen_error_is_one_line_that_says_where_its_traceback_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".agent-fox").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="substring") as caught:
        "".index("x")
    assert report(caught.value) is Exit.INPUT
    log = tmp_path / ".agent-fox" / "crash.log"
    line = f"internal error: ValueError: substring not found; the traceback is in {log}"
    assert capsys.readouterr().err == f"agent-fox: {line}\n"
    assert "Traceback" in log.read_text()
