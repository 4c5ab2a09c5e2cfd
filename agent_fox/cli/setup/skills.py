"""What `init` can install so that an agent in a chat works with agent-fox: a Claude Code skill, a part of AGENTS.md."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from agent_fox.cli.errors import UserError

SKILL = Path(".claude/skills/agent-fox/SKILL.md")
SNIPPET = Path("AGENTS.md")
BEGIN, END = "<!-- agent-fox: begin -->", "<!-- agent-fox: end -->"
KINDS = ("claude", "agents-md")


def install(root: Path, kind: str) -> tuple[Path, bool]:
    """Install one of KINDS; the file, relative to the root, and whether it changed. Raises UserError."""
    path = SKILL if kind == "claude" else SNIPPET
    if (root / path).is_symlink():
        raise UserError(f"{path} is a link; put the text of `agent-fox init --skill {kind}` where it leads yourself")
    try:
        old = (root / path).read_text(encoding="utf-8") if (root / path).exists() else ""
        new = packaged("SKILL.md") if kind == "claude" else with_snippet(old)
        if new != old:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(new, encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text; convert it first") from error
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error
    return path, new != old


def packaged(name: str) -> str:
    return resources.files("agent_fox.cli").joinpath("skill", name).read_text(encoding="utf-8")


def with_snippet(text: str) -> str:
    """The file with our part between its marks, brought up to date; all else stays. Raises UserError for odd marks."""
    ours = f"{BEGIN}\n{packaged('AGENTS.md')}{END}\n"
    if (text.count(BEGIN), text.count(END)) == (0, 0):
        return f"{text.rstrip()}\n\n{ours}" if text.strip() else ours
    before, mark, rest = text.partition(BEGIN)
    _, closing, after = rest.partition(END)
    if not (mark and closing) or text.count(BEGIN) != 1 or text.count(END) != 1:
        raise UserError(f"{SNIPPET}: `{BEGIN}` and `{END}` must stand there once each, in this order, or not at all")
    return f"{before}{ours}{after.removeprefix(chr(10))}"
