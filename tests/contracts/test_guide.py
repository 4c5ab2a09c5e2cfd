"""The parser that docs/contributing.md shows is one."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.protocol import LogParser, Workspace

GUIDE = Path(__file__).parents[2] / "docs" / "contributing.md"


def test_the_parser_of_the_guide_reads_what_failed() -> None:
    code = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)[0]
    names: dict[str, object] = {}
    exec(compile(code, str(GUIDE), "exec"), names)
    hook = names["agent_fox_log_parsers"]
    assert callable(hook)
    (parser,) = hook()
    assert isinstance(parser, LogParser)
    parsed = parser.parse(["ok adds\n", "not ok greets a stranger\n"], Workspace(PurePosixPath("/work")))
    assert [(each.kind, each.test_name) for each in parsed.failures] == [
        (FailureKind.TEST_FAILURE, "greets a stranger")
    ]
