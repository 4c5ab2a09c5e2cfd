"""Faults on GitHub's side and on the way, for the fake: when one strikes, and what it does to an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from agent_fox.core.values import dataclass
from agent_fox.testing.github.wire import Answer, Manner, Refusal, Request

When = Callable[[Request], bool]
_SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


@dataclass(frozen=True, slots=True)
class Break:
    """The way breaks: the answer comes spoilt or not at all. `is_applied`: what was asked is done nevertheless."""

    manner: Manner
    is_applied: bool = True


@dataclass(frozen=True, slots=True)
class Say:
    """This is answered in place of the truth."""

    answer: Answer
    is_applied: bool = False


@dataclass(slots=True)
class Fault:
    """Strikes the next `times` requests of which `when` is true."""

    when: When
    what: Break | Say
    times: int = 1

    def strikes(self, request: Request) -> bool:
        """Whether it strikes this request; that it did is counted."""
        if self.times <= 0 or not self.when(request):
            return False
        self.times -= 1
        return True


def spoilt(true: Answer | None, what: Break | Say) -> Answer:
    """What reaches the client. `true` is None where nothing was done."""
    match what:
        case Say():
            return what.answer
        case Break():
            return replace(true or Answer(0), manner=what.manner)


def anything(request: Request) -> bool:
    return True


def reads(request: Request) -> bool:
    return not request.is_write


def writes(request: Request) -> bool:
    return request.is_write


def lists(request: Request) -> bool:
    return not request.is_write and _ends(request, "/issues")


def creates(request: Request) -> bool:
    """An issue is to be created."""
    return request.method == "POST" and _ends(request, "/issues")


def comments(request: Request) -> bool:
    """A comment is to be written."""
    return request.method == "POST" and _ends(request, "/comments")


def edits(request: Request) -> bool:
    """An issue is to be changed."""
    return request.method == "PATCH" and re.search(r"/issues/\d+$", request.path) is not None


def _ends(request: Request, tail: str) -> bool:
    return request.path.endswith(tail)


def refused() -> Break:
    return Break(Manner.REFUSED, is_applied=False)


def dropped(*, is_applied: bool = True) -> Break:
    return Break(Manner.DROPPED, is_applied)


def timed_out(*, is_applied: bool = True) -> Break:
    return Break(Manner.TIMED_OUT, is_applied)


def cut(*, is_clean: bool = False) -> Break:
    """Half of the body; `is_clean` where nothing but the JSON shows it."""
    return Break(Manner.HALVED if is_clean else Manner.CUT)


def gateway(status: int = 502, *, is_applied: bool = True) -> Say:
    """What a gateway says in GitHub's place: a page, no JSON."""
    page = f"<html><head><title>{status}</title></head><body><h1>{status}</h1></body></html>"
    return Say(Answer(status, page.encode(), {"Content-Type": "text/html"}), is_applied)


def limited(retry_after: str | None = "60", status: int = 403, headers: Mapping[str, str] | None = None) -> Say:
    """A secondary limit: wait so long (seconds, a date, nonsense), or no word of how long."""
    wait = {} if retry_after is None else {"Retry-After": retry_after}
    return Say(Refusal(status, _SECONDARY, headers=wait | dict(headers or {})).answer())


def exhausted(reset: float, status: int = 403) -> Say:
    """The hour's requests are spent until then (seconds since 1970)."""
    left = {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(reset))}
    return Say(Refusal(status, "API rate limit exceeded for user ID 1.", headers=left).answer())


def refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> Say:
    """Any other no."""
    return Say(Refusal(status, message, headers=headers).answer())
