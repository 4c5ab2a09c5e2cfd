"""What a tool call is answered with: a short text for a model, and the same as a document. Both are bounded."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from mcp_types import CallToolResult, TextContent

from agent_fox.core.markdown import printable, without_our_tags
from agent_fox.mcp.errors import CallRefused
from agent_fox.verifier.reporting.documents import Document

ERROR_KEY = "agent-fox/error"
"""Where a refused call's code stands, for programs: `_meta` is the one place that no client checks against a schema."""

LONGEST_REFUSAL = 600


def answer(text: str, document: Document) -> CallToolResult:
    """A call that was carried out, whatever came of it: tests that fail are an answer, not an error."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=document.model_dump(mode="json", by_alias=True),
    )


def refusal(refused: CallRefused) -> CallToolResult:
    """A call that was not carried out: the code and the reason, for the model to read and to call better."""
    message = printable(refused.message)[:LONGEST_REFUSAL]
    text = f"<verification-error code={quoteattr(refused.code)}>{without_our_tags(message)}</verification-error>"
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        is_error=True,
        _meta={ERROR_KEY: {"code": refused.code, "message": message}},
    )
