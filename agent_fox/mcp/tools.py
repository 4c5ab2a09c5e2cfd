"""The tools of the catalogue as the SDK wants them: arguments read, the verifier asked in a thread, answered."""

from __future__ import annotations

import errno
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import anyio
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool as ServerTool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import ConfigDict
from starlette.requests import Request as HttpRequest

from agent_fox.core.values import dataclass
from agent_fox.mcp.answers import answer, refusal
from agent_fox.mcp.catalogue import Entry, Reading
from agent_fox.mcp.documents import (
    DetectionDocument,
    ReportSummaryDocument,
    detection_document,
    detection_text,
    report_document,
    report_text,
)
from agent_fox.mcp.errors import CallRefused
from agent_fox.mcp.inputs import (
    Arguments,
    LogArguments,
    ModuleArguments,
    ReportArguments,
    SelectedArguments,
    read_arguments,
)
from agent_fox.mcp.runs import Runs
from agent_fox.mcp.schemas import output_schema_of, schema_of
from agent_fox.mcp.toolbox import Toolbox
from agent_fox.verifier.artifacts.index import ArtifactError
from agent_fox.verifier.ground.request import Refused, Request
from agent_fox.verifier.ground.results import Tool, VerificationResult
from agent_fox.verifier.logs.registry import UnknownTool
from agent_fox.verifier.reporting.documents import Document, ResultDocument
from agent_fox.verifier.reporting.projection import as_document, as_xml

if TYPE_CHECKING:
    from agent_fox.verifier.profiles.context import Report

_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)

Call: TypeAlias = Callable[[Arguments, threading.Event, "Report"], CallToolResult]


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one tool is answered, and with which document."""

    call: Call
    document: type[Document]


class AsGiven(ArgModelBase):
    """The arguments as the client wrote them: nothing is read as JSON once more, nothing dropped."""

    model_config = ConfigDict(extra="allow")

    def model_dump_one_level(self) -> dict[str, object]:
        return {"arguments": dict(self.model_extra or {})}


CarryOut: TypeAlias = Callable[[Arguments, Context], Awaitable[CallToolResult | CallRefused]]


def made_tool(
    name: str, description: str, form: type[Arguments], modules: Sequence[str], document: type[Document],
    annotations: ToolAnnotations, carry_out: CarryOut,
) -> ServerTool:  # fmt: skip
    """A tool that reads its arguments and is then carried out; what refuses either is its answer."""

    async def call(arguments: dict[str, object], context: Context) -> CallToolResult:
        try:
            answered = await carry_out(read_arguments(form, arguments), context)
        except CallRefused as refused:
            return refusal(refused)
        return refusal(answered) if isinstance(answered, CallRefused) else answered

    return ServerTool(
        fn=call,
        name=name,
        title=annotations.title,
        description=description,
        parameters=dict(schema_of(form, modules)),
        fn_metadata=FuncMetadata(
            arg_model=AsGiven, output_model=document, output_schema=dict(output_schema_of(document))
        ),
        is_async=True,
        context_kwarg="context",
        annotations=annotations,
    )


def server_tool(entry: Entry, box: Toolbox, runs: Runs, modules: Sequence[str]) -> ServerTool:
    """One entry of the catalogue, ready to be called."""
    kind = _kind(entry, box)

    async def carry_out(given: Arguments, context: Context) -> CallToolResult | CallRefused:
        return await runs.follow(
            lambda stop, report: _carried_out(kind.call, given, stop, report),
            Waiting(context, lambda seconds, output: _progress(entry.title, seconds, output)),
            in_turn=isinstance(entry.name, Tool),
        )

    annotations = ToolAnnotations(
        title=entry.title,
        read_only_hint=not entry.changes_source,
        destructive_hint=entry.changes_source,
        idempotent_hint=True,
        open_world_hint=False,
    )
    return made_tool(
        entry.name.value, entry.description, entry.arguments, modules, kind.document, annotations, carry_out
    )


def _progress(title: str, seconds: float, output_bytes: int | None) -> str:
    done = "waiting for its turn" if output_bytes is None else f"{output_bytes:,} bytes of output"
    return f"{title}: {seconds:.0f} s, {done}"


def _kind(entry: Entry, box: Toolbox) -> _Kind:
    match entry.name:
        case Reading.DETECT:
            return _Kind(lambda _given, _stop, _report: _detect(box), DetectionDocument)
        case Reading.SUMMARIZE:
            return _Kind(lambda given, _stop, _report: _summarize(box, given), ResultDocument)
        case Reading.REPORT:
            return _Kind(lambda given, _stop, _report: _read_report(box, given), ReportSummaryDocument)
        case Tool() as tool:
            return _Kind(lambda given, stop, report: _run(box, tool, given, stop, report), ResultDocument)


def _run(box: Toolbox, tool: Tool, given: Arguments, stop: threading.Event, report: Report) -> CallToolResult:
    module = given.module if isinstance(given, ModuleArguments) else None
    selector = given.selector if isinstance(given, SelectedArguments) else None
    return _result(box.run(Request(tool, module, selector), stop=stop, progress=report))


def _result(result: VerificationResult) -> CallToolResult:
    return answer(as_xml(result), as_document(result))


def _detect(box: Toolbox) -> CallToolResult:
    document = detection_document(box.detect(), box.profile().id)
    return answer(detection_text(document), document)


def _summarize(box: Toolbox, given: Arguments) -> CallToolResult:
    assert isinstance(given, LogArguments), "the catalogue says so"
    return _result(box.summarize(given.artifact, given.tool))


def _read_report(box: Toolbox, given: Arguments) -> CallToolResult:
    assert isinstance(given, ReportArguments), "the catalogue says so"
    report = box.report(given.run, given.attempt)
    if report is None:
        raise CallRefused("no_report", "there is no such report; a report is made when a verification plan has run")
    short = report_document(report)
    return answer(report_text(short), short)


def _carried_out(call: Call, given: Arguments, stop: threading.Event, report: Report) -> CallToolResult:
    """Where the verifier's refusals and the world's failures become ours. Paths of this machine stay here."""
    try:
        return call(given, stop, report)
    except Refused as refused:
        raise CallRefused(refused.code, refused.message) from refused
    except ArtifactError as error:
        raise CallRefused("unknown_artifact", str(error)) from error
    except UnknownTool as error:
        raise CallRefused("unknown_log_tool", str(error)) from error
    except OSError as error:
        raise _unreadable(error) from error


def _unreadable(error: OSError) -> CallRefused:
    if error.errno in _GONE:
        return CallRefused("workspace_gone", "the workspace, or a file of it that is needed, is not there any more")
    return CallRefused("workspace_unreadable", f"the workspace cannot be used: {error.strerror or 'unknown reason'}")


class Waiting:
    """Who waits for an answer, as the SDK knows it. `words` say what is done by then: seconds, bytes of output."""

    def __init__(self, context: Context, words: Callable[[float, int | None], str]) -> None:
        self._context, self._words = context, words
        self._is_lost = False

    async def tell(self, seconds: float, output_bytes: int | None) -> None:
        try:
            await self._context.report_progress(round(seconds, 1), message=self._words(seconds, output_bytes))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._is_lost = True

    async def has_left(self) -> bool:
        """Only HTTP tells: over standard input and output the whole server ends with its client."""
        request: object = self._context.request_context.request
        return self._is_lost or (isinstance(request, HttpRequest) and await request.is_disconnected())
