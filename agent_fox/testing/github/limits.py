"""GitHub's limits of rate as the fake keeps them: what was written when, what came too fast, what is refused."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from email.utils import parsedate_to_datetime

from agent_fox.core.values import dataclass
from agent_fox.testing.github.wire import Answer, Refusal, Request

MINUTE, HOUR = 60.0, 3600.0
A_MINUTE, AN_HOUR = 80, 500
"""How many writes GitHub bears."""
REQUESTS = 5000
_BETWEEN = 0.999
"""Writes are to be a second apart; a thousandth is what rounding may cost."""
_SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
_PRIMARY = "API rate limit exceeded for user."


@dataclass(frozen=True, slots=True)
class Write:
    """A request that was to change something: when it came, and what was answered."""

    at: float
    method: str
    path: str
    status: int


@dataclass(slots=True)
class Limits:
    """Counts requests and writes. `is_enforced`: too many writes are refused, not only noted."""

    is_enforced: bool = True
    requests: int = REQUESTS
    remaining: int = REQUESTS
    reset: float = 0.0
    writes: list[Write] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    blocked_until: float = 0.0
    _recent: deque[float] = field(default_factory=deque)

    def spend(self, request: Request, now: float) -> None:
        """Count a request that arrives. Raises Refusal where it is one too many; to ask what is left costs nothing."""
        if request.path.rstrip("/") == "/rate_limit":
            return
        if now >= self.reset:
            self.remaining, self.reset = self.requests, now + HOUR
        if now < self.blocked_until:
            self.violations.append(f"{_when(now)} {request.method} {request.path}: asked before the time told")
        if self.remaining <= 0:
            raise Refusal(403, _PRIMARY)
        self.remaining -= 1
        if request.is_write and not request.path.endswith("/access_tokens"):
            self._count(request, now)

    def _count(self, request: Request, now: float) -> None:
        while self._recent and self._recent[0] <= now - HOUR:
            self._recent.popleft()
        what = f"{_when(now)} {request.method} {request.path}"
        if self._recent and now - self._recent[-1] < _BETWEEN:
            self.violations.append(f"{what}: {now - self._recent[-1]:.3f} s after the write before")
        self._recent.append(now)
        in_a_minute = sum(at > now - MINUTE for at in self._recent)
        if in_a_minute > A_MINUTE or len(self._recent) > AN_HOUR:
            self.violations.append(f"{what}: {in_a_minute} writes in a minute, {len(self._recent)} in an hour")
            if self.is_enforced:
                raise Refusal(403, _SECONDARY, headers={"Retry-After": "60"})

    def note_answer(self, request: Request, answer: Answer, now: float) -> None:
        """Remember what was answered: the write itself, and a time to wait for."""
        if request.is_write:
            self.writes.append(Write(now, request.method, request.path, answer.status))
        if answer.status in (403, 429):
            self.blocked_until = max(self.blocked_until, _until(answer, now))

    def headers(self) -> Mapping[str, str]:
        return {
            "X-RateLimit-Limit": str(self.requests),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Used": str(self.requests - self.remaining),
            "X-RateLimit-Reset": str(int(self.reset)),
            "X-RateLimit-Resource": "core",
        }


def _until(answer: Answer, now: float) -> float:
    """Until when an answer tells one to wait; 0 where it does not say so in words that can be understood."""
    headers = {name.lower(): value for name, value in answer.headers.items()}
    wait, reset = headers.get("retry-after", ""), headers.get("x-ratelimit-reset", "")
    if wait.isdigit():
        return now + int(wait)
    if headers.get("x-ratelimit-remaining") == "0" and reset.isdigit():
        return float(reset)
    with suppress(ValueError):
        return parsedate_to_datetime(wait).timestamp()
    return 0.0


def _when(now: float) -> str:
    return f"at {now:.3f}:"
