"""A verifier that is put together when it is first asked to run or read something: the start does not wait for it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.verifier.projects.detect import detect

if TYPE_CHECKING:
    from pathlib import Path

    from agent_fox.verifier.ground.request import Request
    from agent_fox.verifier.ground.results import VerificationResult
    from agent_fox.verifier.plans.toolbox import Verifier
    from agent_fox.verifier.profiles.context import Report, RunContext
    from agent_fox.verifier.profiles.model import Profile
    from agent_fox.verifier.projects.systems import Detection
    from agent_fox.verifier.reporting.report import VerificationReport


@dataclass(slots=True)
class LateVerifier:
    """Answers from `context` what a start needs. May be used from several threads."""

    context: RunContext
    formats: tuple[Path, ...] = ()
    """Files with formats of lines, read when the verifier is put together."""
    _verifier: Verifier | None = field(init=False, default=None)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    @property
    def may_format(self) -> bool:
        """Whether the person who started this lets the formatter change source, and so does the profile."""
        return self.context.allow_format_apply and self.context.profile.policy.allow_source_mutation

    def profile(self) -> Profile:
        return self.context.profile

    def detect(self) -> Detection:
        """The build systems of the workspace, by their manifests."""
        return detect(self.context.root)

    def run(self, request: Request, *, stop: threading.Event, progress: Report) -> VerificationResult:
        return self.ready().run(request, stop=stop, progress=progress)

    def summarize(self, artifact_uri: str, tool: str) -> VerificationResult:
        return self.ready().summarize(artifact_uri, tool)

    def report(self, run: str | None = None, attempt: int | None = None) -> VerificationReport | None:
        return self.ready().report(run, attempt)

    def ready(self) -> Verifier:
        """The verifier itself, with formats of lines and the log parsers of plugins.

        Raises BadFormat for a file that is no format, and PluginError for a plugin that cannot be used.
        """
        from agent_fox.cli.verifier.making import verifier_of  # noqa: PLC0415 - slow, and a start does not need it

        with self._lock:
            if self._verifier is None:
                self._verifier = verifier_of(self.context, self.formats)
            return self._verifier
