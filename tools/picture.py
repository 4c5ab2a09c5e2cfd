"""The picture of the README's first session: its commands run as they stand, and what `plan` and `run` print is drawn.

`python -m tools.picture` writes docs/first-session.svg. What differs from run to run is drawn as if it did not: the
clock goes on by a second a line, every commit is the same, every duration is 9 s.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "first-session.svg"
DRAWN = ("agent-fox plan", "agent-fox run")
COLUMNS = 118
TITLES = ("specs", "money", "needs you", "also", "next")


def session() -> list[str]:
    """The lines of the README's first block of commands, which are run one after the other in one shell."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return [line for line in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)[0].splitlines() if line.strip()]


def printed(folder: Path) -> dict[str, str]:
    """What each command of the session prints, run in `folder` as a person would, with a home of its own.

    Raises RuntimeError with what was printed where one of them fails.
    """
    (folder / "examples").symlink_to(ROOT / "examples")
    mark = "\x1e"
    script = "".join(f"printf '{mark}%s\\n' {_quoted(line)}\n{line}\n" for line in session())
    done = subprocess.run(
        ["sh", "-e", "-c", script], cwd=folder, env=_environment(folder), capture_output=True, text=True, timeout=600
    )
    if done.returncode:
        raise RuntimeError(f"the first session ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    parts = (part.partition("\n") for part in done.stdout.split(mark)[1:])
    return {line: text for line, _, text in parts}


def _quoted(line: str) -> str:
    return "'" + line.replace("'", "'\\''") + "'"


def _environment(home: Path) -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    who = {f"GIT_{role}_{what}": "reader@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "NO_COLOR": "1", "COLUMNS": str(COLUMNS), **who}


def drawn(outputs: dict[str, str]) -> str:
    """The picture as SVG, a function of what was printed but for times, durations and commits. It loads no font."""
    from rich.console import Console  # noqa: PLC0415 - the tests import the rest of this file, too
    from rich.text import Text  # noqa: PLC0415 - as above

    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True, color_system="truecolor")
    for command in DRAWN:
        console.print(Text(f"$ {command}", style="bold green"))
        for line in _steadied(outputs[command].splitlines()):
            console.print(Text(line, style=_style(line)))
    return re.sub(r"\s*@font-face \{.*?\}", "", console.export_svg(title="A first session"), flags=re.DOTALL)


def _style(line: str) -> str:
    if "FAIL" in line:
        return "red"
    return "bold" if "PROVEN" in line or line in TITLES else ""


def _steadied(lines: list[str]) -> Iterator[str]:
    clock = itertools.count()
    for line in lines:
        timed = re.sub(r"^\d\d:\d\d:\d\d", lambda _: f"10:13:{next(clock):02}", line)
        yield re.sub(r"\b\d+(\.\d+)? s\b", "9 s", re.sub(r"\b[0-9a-f]{12}\b", "fa5d8d5bebbf", timed))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        PICTURE.write_text(drawn(printed(Path(folder))), encoding="utf-8")
    print(f"wrote {PICTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
