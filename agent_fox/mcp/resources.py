"""What clients may read beside the tools: profiles, reports, known failures. Everything is bounded."""

from __future__ import annotations

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.server.mcpserver.resources import FunctionResource

from agent_fox.mcp.documents import report_document
from agent_fox.mcp.patterns import known_failures, words
from agent_fox.mcp.toolbox import Toolbox
from agent_fox.verifier.profiles.loading import built_in
from agent_fox.verifier.profiles.model import Profile

JSON = "application/json"
MARKDOWN = "text/markdown"


def add_resources(server: MCPServer, box: Toolbox) -> None:
    """Offer them: by template, and those that a client should see in a list by name."""
    _add_profiles(server, box)
    _add_reports(server, box)
    _add_known_failures(server)


def _add_profiles(server: MCPServer, box: Toolbox) -> None:
    def profile(id: str) -> str:
        return _profile_text(box, id)

    server.resource(
        "verifier://profiles/{id}",
        name="profile",
        title="Verification profile",
        description="A profile: which commands each tool runs, under which limits and rules, and what it cannot do.",
        mime_type=JSON,
    )(profile)
    used = box.profile().id
    server.add_resource(
        FunctionResource(
            uri=f"verifier://profiles/{used}",
            name=f"profile-{used}",
            title="The profile in use",
            description="The profile this server works by: commands, limits, rules and limitations.",
            mime_type=JSON,
            fn=lambda: _profile_text(box, used),
        )
    )


def _add_reports(server: MCPServer, box: Toolbox) -> None:
    def report(run: str, attempt: str) -> str:
        document = box.report(run, int(attempt)) if attempt.isascii() and attempt.isdigit() else None
        if document is None:
            raise ResourceNotFoundError("there is no report of that run and attempt")
        return report_document(document).model_dump_json(indent=2)

    server.resource(
        "verifier://reports/{run}/{attempt}",
        name="report",
        title="Verification report",
        description="What a verification plan came to, by run and attempt: steps, blocking failures, baseline.",
        mime_type=JSON,
    )(report)


def _add_known_failures(server: MCPServer) -> None:
    def failures(tool: str) -> str:
        return _failures_text(tool)

    server.resource(
        "verifier://known-failures/{tool}",
        name="known-failures",
        title="Known failures of a tool",
        description=f"How a tool's failures look, what they usually mean and what helps. Tools: {', '.join(words())}.",
        mime_type=MARKDOWN,
    )(failures)


def _profile_text(box: Toolbox, wanted: str) -> str:
    """The profile in use as it was narrowed, any other as it is built in."""
    used = box.profile()
    profile: Profile | None = used if used.id == wanted else built_in().get(wanted)
    if profile is None:
        raise ResourceNotFoundError(f"there is no such profile; there are: {', '.join(sorted(built_in()))}")
    return profile.model_dump_json(indent=2, exclude_defaults=True)


def _failures_text(tool: str) -> str:
    known = known_failures(tool)
    if known is None:
        raise ResourceNotFoundError(f"nothing is known of that tool; there are: {', '.join(words())}")
    return known.as_markdown()
