"""The parser of what the tool `mytap` prints: `ok NAME` and `not ok NAME`, a line each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent_fox.plugins import hookimpl
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.protocol import LogParser, Workspace


class MyTap:
    tools = ("mytap",)

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        failed = (line.strip() for line in lines if line.startswith("not ok "))
        named = ((line, line.removeprefix("not ok ")) for line in failed)
        return Parsed(tuple(Failure(FailureKind.TEST_FAILURE, line, test_name=name) for line, name in named))


@hookimpl
def agent_fox_log_parsers() -> Sequence[LogParser]:
    return [MyTap()]
