"""What a JavaScript test runner says of a test file that could not be loaded, where the file stands for a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.frames import Place, first_line
from agent_fox.verifier.logs.node import node_failure

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_FILE = regex(r"^(?:[A-Za-z]:)?[^:*?<>|]*\.[cm]?[jt]sx?$")
_NOT_LOADED = regex(
    r"SyntaxError|ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND|Cannot find (?:module|package)|Failed to (?:load|resolve|parse)"
    r"|Unexpected token|Transform failed|does not provide an export named"
)
_ERROR = regex(r"^(?:Uncaught )?((?:[A-Za-z_$][\w$.]*)?(?:Error|Exception)(?: \[\w+\])?: .+)$")


def is_file(name: str) -> bool:
    """Whether the name of a test is that of a file of JavaScript or TypeScript."""
    return bool(_FILE.match(name))


def kind_of_broken_file(text: str) -> FailureKind:
    """What cannot be parsed or resolved never ran: that is no failed test."""
    return FailureKind.COMPILE_ERROR if _NOT_LOADED.search(text) else FailureKind.TEST_FAILURE


def broken_file(name: str, before: Sequence[str], text: str, declared: Place | None, workspace: Workspace) -> Failure:
    """A file that stands for a test that failed: Node's own words, printed before, say why it could not be loaded."""
    if not error_line(before):
        message = first_line(text).strip("'") or "the file could not be run"
        failure = Failure(kind_of_broken_file(text), message, evidence=text)
    else:
        failure = node_failure("\n".join(before), workspace)
    if failure.line is None:
        file = failure.file or (declared.file if declared else workspace.relative(name))
        is_same = declared is not None and declared.file == file
        failure = replace(failure, file=file, line=declared.line if declared and is_same else None)
    kind = FailureKind.TEST_FAILURE if failure.kind is FailureKind.UNKNOWN else failure.kind
    return replace(failure, kind=kind, test_name=workspace.relative(name))


def error_line(lines: Sequence[str]) -> str:
    """The line that names the error that Node died of, empty without one."""
    return next((match[1] for line in lines if (match := _ERROR.match(line))), "")


def test_path(names: Sequence[str]) -> str:
    """Names of groups and of a test as one, without files that only wrap them."""
    parts = [part for name in names for part in name.split(" > ") if part]
    return " > ".join([*(part for part in parts[:-1] if not is_file(part)), *parts[-1:]])
