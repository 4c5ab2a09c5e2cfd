"""The review server: three tools, each under two names, over a review desk. What a review is, is not here."""

from __future__ import annotations

import json
import threading
import warnings
from typing import Any

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.tools import Tool as ServerTool
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, ToolAnnotations
from pydantic import JsonValue, ValidationError

from agent_fox.engine.doors.reviewing import Desk, Failed, NotReviewed, Passed, Reviewed, ReviewRefused
from agent_fox.mcp import stdio
from agent_fox.mcp.answers import answer
from agent_fox.mcp.descriptors import describe
from agent_fox.mcp.errors import CallRefused
from agent_fox.mcp.evidence import add_evidence
from agent_fox.mcp.inputs import Arguments
from agent_fox.mcp.review.catalogue import ENTRIES, INSTRUCTIONS, NAME, VERSION, Deed, ReviewEntry
from agent_fox.mcp.review.inputs import (
    ClearArguments,
    ClearedDocument,
    ReviewDocument,
    SnakeDocument,
    VerifyArguments,
    WriteArguments,
    WrittenDocument,
)
from agent_fox.mcp.runs import Runs
from agent_fox.mcp.server import quieten
from agent_fox.mcp.tools import Waiting, made_tool
from agent_fox.review.clearing import ClearingOff
from agent_fox.store.state import StateError

ROOTS_SECONDS = 5.0
"""A client that says it has roots and does not tell them is not waited for any longer."""

MOST_ROOTS = 20
LONGEST_NAME = 100

SESSION_IN_META = "sessionId"
"""Where codex names its session in each call; Claude Code does in the environment of the server."""


def build_review_server(desk: Desk, version: str, runs: Runs) -> MCPServer:
    """The server of one project's review tasks."""
    server: MCPServer = MCPServer(
        NAME,
        title="agent-fox review",
        description=f"Independent review before work counts as done (descriptors version {VERSION}).",
        instructions=INSTRUCTIONS,
        version=version,
        tools=[_tool(entry, desk, runs) for entry in ENTRIES],
        log_level="WARNING",
        subscriptions=False,
    )
    server.middleware.append(_only_known())
    add_evidence(server, desk.state)
    return server


def describe_review(desk: Desk, version: str) -> dict[str, JsonValue]:
    """What clients are told of the server."""
    return describe(build_review_server(desk, version, Runs())) | {"version": VERSION}


def serve_review(desk: Desk, version: str) -> None:
    """Serve the process that started this one, until it closes our standard input."""
    anyio.run(_serve, desk, version)


async def _serve(desk: Desk, version: str) -> None:
    runs = Runs()
    with stdio.clean_output():
        server = build_review_server(desk, version, runs)
    quieten()
    await stdio.serve(server, runs)


def _only_known() -> ServerMiddleware[Any]:
    """Refuse tools that are not offered as the protocol has it, with the names that are."""
    known = [entry.name for entry in ENTRIES]

    async def check(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        name = (ctx.params or {}).get("name")
        if ctx.method == "tools/call" and name not in known:
            raise MCPError(INVALID_PARAMS, f"unknown tool {str(name)[:80]!r}; there are: {', '.join(known)}")
        return await call_next(ctx)

    return check


def _tool(entry: ReviewEntry, desk: Desk, runs: Runs) -> ServerTool:
    async def carry_out(given: Arguments, context: Context) -> CallToolResult | CallRefused:
        roots = await _roots(context) if entry.deed is Deed.WRITE and desk.asks_for_roots else ()
        client = _client(context, desk.session)
        return await runs.follow(
            lambda stop, _report: _carried_out(desk, given, roots, client, stop),
            Waiting(context, lambda seconds, _output: f"in review for {seconds:.0f} s"),
            in_turn=entry.deed is Deed.VERIFY,
        )

    annotations = ToolAnnotations(
        title=entry.title,
        read_only_hint=False,
        destructive_hint=entry.deed is Deed.CLEAR,
        idempotent_hint=False,
        open_world_hint=entry.deed is Deed.VERIFY,
    )
    return made_tool(entry.name, entry.description, entry.arguments, (), entry.document, annotations, carry_out)


def _carried_out(
    desk: Desk, given: Arguments, roots: tuple[str, ...], client: str, stop: threading.Event
) -> CallToolResult:
    """Where refusals of the desk and failures of the world become ours."""
    try:
        return _answered(desk, given, roots, client, stop)
    except ReviewRefused as refused:
        raise CallRefused(refused.code, str(refused)) from refused
    except ClearingOff as error:
        raise CallRefused("clearing_off", str(error)) from error
    except StateError as error:
        raise CallRefused("state_unusable", str(error)) from error
    except OSError as error:
        raise CallRefused(
            "world", f"{error.filename or 'the system'}: {error.strerror}; put it right, call again"
        ) from error


def _answered(
    desk: Desk, given: Arguments, roots: tuple[str, ...], client: str, stop: threading.Event
) -> CallToolResult:  # fmt: skip
    match given:
        case WriteArguments():
            return _document_answer(WrittenDocument(task_id=desk.register(given.description, roots, client)))
        case VerifyArguments():
            return _document_answer(_review_document(given.task_id, desk.review(given.task_id, stop)))
        case ClearArguments():
            done = desk.clear(given.task_ids, given.password)
            return _document_answer(ClearedDocument(status="OK", cleared=done.cleared, not_found=done.not_found))
    raise AssertionError(given)


def _review_document(task_id: str, reviewed: Reviewed) -> ReviewDocument:
    match reviewed:
        case Passed():
            answer = ("OK", "", "", "")
        case Failed(feedback):
            answer = ("NOK", feedback, "", "")
        case NotReviewed(reason, remedy):
            answer = ("UNKNOWN", "", reason, remedy)
    status, feedback, reason, remedy = answer
    return ReviewDocument(status=status, task_id=task_id, feedback=feedback, reason=reason, remedy=remedy)


def _document_answer(document: SnakeDocument) -> CallToolResult:
    """The document, and as text what of it is not empty."""
    shown = {key: value for key, value in document.model_dump(mode="json").items() if value != ""}
    return answer(json.dumps(shown, ensure_ascii=False), document)


async def _roots(context: Context) -> tuple[str, ...]:
    """The client's roots, where it has any and this revision of the protocol asks for them; else none, quietly."""
    session = context.request_context.session
    capabilities = session.client_capabilities
    if capabilities is None or capabilities.roots is None or not session.can_send_request:
        return ()
    try:
        with anyio.fail_after(ROOTS_SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            listed = await session.list_roots()
    except (MCPError, TimeoutError, ValidationError):
        return ()
    return tuple(str(root.uri) for root in listed.roots[:MOST_ROOTS])


def _client(context: Context, session: str) -> str:
    """Who calls, and in which session of its own: by that the stop hook knows the tasks of a chat."""
    client = context.request_context.session.client_params
    name = f"{client.client_info.name} {client.client_info.version}" if client else ""
    meta = context.request_context.meta
    known = session or str((dict(meta) if meta else {}).get(SESSION_IN_META) or "")
    return " ".join((*([name[:LONGEST_NAME]] if name else []), *([f"session={known}"] if known else [])))
