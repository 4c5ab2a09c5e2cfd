"""What the server needs of a verifier: five questions. The verifier's own `Verifier` answers them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

from agent_fox.verifier.ground.request import Request
from agent_fox.verifier.ground.results import VerificationResult
from agent_fox.verifier.profiles.model import Profile
from agent_fox.verifier.projects.systems import Detection
from agent_fox.verifier.reporting.report import VerificationReport

if TYPE_CHECKING:
    from agent_fox.verifier.profiles.context import Report


class Toolbox(Protocol):
    """Blocking; safe to be asked from several threads.

    Raises Refused for what is not carried out, ArtifactError and UnknownTool for a log that is not there or not known
    how to read, OSError where the workspace can't be.
    """

    @property
    def may_format(self) -> bool: ...

    def profile(self) -> Profile: ...

    def detect(self) -> Detection: ...

    def run(self, request: Request, *, stop: threading.Event, progress: Report) -> VerificationResult: ...

    def summarize(self, artifact_uri: str, tool: str) -> VerificationResult: ...

    def report(self, run: str | None = None, attempt: int | None = None) -> VerificationReport | None: ...
