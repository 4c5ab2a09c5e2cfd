"""What a refusal or a failed connection means for a delivery: held, to be tried again, or perhaps out. Pure.

The rule: what surely did not arrive is tried again, what a person must mend is held, and a write of which nothing is
known is neither; the tracker looks for it before it sends again.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from requests import exceptions as broken
from urllib3 import exceptions as transport

from agent_fox.system.clock import later
from agent_fox.trackers.protocol import Held, Retry, Unsure

if TYPE_CHECKING:
    from agent_fox.trackers.github.answers import Answer

LONGEST_WAIT = 7200.0
FIRST_WAIT = 60.0
AFTER_REFUSED = 30.0

SYNC = "then run `agent-fox issues sync`"
DOCTOR = "`agent-fox issues doctor` tells what is missing"
AGAIN = "; it is tried again by itself, and if that does not help: "
NETWORK = "look at the network, at HTTPS_PROXY and at `[tracker] base_url`"

_NOT_OUT = (
    transport.NewConnectionError,
    transport.ConnectTimeoutError,
    transport.ProxyError,
    socket.gaierror,
    ConnectionRefusedError,
    broken.ConnectTimeout,
    broken.ProxyError,
)
_MALFORMED = (broken.InvalidHeader, broken.InvalidURL, broken.MissingSchema, broken.InvalidSchema)
_LIMIT_WORDS = ("rate limit", "abuse detection", "retry your request again later", "wait a few minutes")


class DoorTrouble(Exception):
    """GitHub could not be asked, or said no. `delivery` is what that means; its words hold no secret.

    `status` is that of the answer, 0 where none came.
    """

    def __init__(self, delivery: Held | Retry | Unsure, status: int = 0) -> None:
        super().__init__(delivery.reason)
        self.delivery, self.status = delivery, status


class Flaky(DoorTrouble):
    """One that another try, a moment later, may not meet. Only readings are repeated."""


class SetupTrouble(Exception):
    """It is unknown who files, or where: the reason, and what to do."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}: {remedy}")
        self.reason, self.remedy = reason, remedy

    @property
    def held(self) -> Held:
        return Held(self.reason, f"{self.remedy}, {SYNC}", is_general=True)


def of_answer(answer: Answer, is_write: bool, now: str, strikes: int = 0) -> DoorTrouble:
    """What an answer means that is not the one hoped for. `strikes`: limits met before this one without a success."""
    if is_limit(answer):
        until = later(now, seconds_to_wait(answer, now, strikes))
        return DoorTrouble(Retry(_refusal_text(answer, "GitHub asks to wait"), until, is_general=True), answer.status)
    if answer.status >= 500 or answer.status == 408:
        return _of_a_breakdown(answer, is_write, now)
    if answer.is_fine:
        return unreadable(is_write, now)
    return DoorTrouble(held(answer), answer.status)


def of_app(answer: Answer, now: str, strikes: int) -> DoorTrouble:
    """What it means that a GitHub App gets no token for the repository."""
    if is_limit(answer) or answer.status >= 500:
        return generally(of_answer(answer, False, now, strikes))
    remedy = f"install the App in the repository; look at `[tracker] app_id`, `app_key` and `installation`, {SYNC}"
    reason = _refusal_text(answer, "GitHub gives the App no token for the repository")
    return DoorTrouble(Held(reason, remedy, is_general=True), answer.status)


def generally(trouble: DoorTrouble) -> DoorTrouble:
    """The same trouble, where it holds for everything that is asked."""
    match trouble.delivery:
        case Held(reason, remedy):
            return DoorTrouble(Held(reason, remedy, is_general=True), trouble.status)
        case Retry(reason, until):
            return DoorTrouble(Retry(reason, until, is_general=True), trouble.status)
        case Unsure():
            return trouble


def held(answer: Answer) -> Held:
    """What a person must mend."""
    match answer.status:
        case 401:
            remedy = f"set a token that is valid (AGENT_FOX_GITHUB_TOKEN, or `gh auth login`), {SYNC}"
            refusal = _refusal_text(answer, "GitHub refuses the token: wrong, expired or revoked")
            return Held(refusal, remedy, is_general=True)
        case 403:
            return _forbidden(answer)
        case 404:
            remedy = f"look at `[tracker] repository` and `base_url`, and at what the token may see; {DOCTOR}; {SYNC}"
            return Held(_refusal_text(answer, "not there, or not visible to the token"), remedy)
        case 410 if "disabled" in answer.words.lower():
            remedy = f"switch issues on in the repository's settings, or set `[tracker] repository`, {SYNC}"
            return Held(_refusal_text(answer, "issues are switched off in the repository"), remedy, is_general=True)
        case 422:
            return Held(_refusal_text(answer, "GitHub does not accept it"), f"mend what GitHub names, {SYNC}")
        case 451:
            remedy = f"set `[tracker] repository` to another one, {SYNC}"
            return Held(_refusal_text(answer, "the repository is blocked"), remedy, is_general=True)
        case status if 300 <= status < 400:
            remedy = f"set `[tracker] repository` (and `base_url`) to where it is now, {SYNC}"
            return Held(_refusal_text(answer, "GitHub points to another address"), remedy)
        case _:
            return Held(_refusal_text(answer, "GitHub refuses"), f"{DOCTOR}; {SYNC}")


def _forbidden(answer: Answer) -> Held:
    words = answer.words.lower()
    if "archived" in words:
        remedy = f"unarchive the repository, or set `[tracker] repository` to another one, {SYNC}"
        return Held(_refusal_text(answer, "the repository is archived"), remedy, is_general=True)
    if "locked" in words:
        return Held(_refusal_text(answer, "the issue is locked"), f"unlock the issue, {SYNC}")
    needed = answer.headers.get("x-accepted-github-permissions", "")
    asked = f" (GitHub asks for `{_plain(needed)}`)" if needed else ""
    remedy = f"give the token or App `Issues: read and write`{asked}; {DOCTOR}; {SYNC}"
    is_general = bool(needed) or "resource not accessible" in words or "saml" in words
    return Held(_refusal_text(answer, "the token may not do this"), remedy, is_general)


def _of_a_breakdown(answer: Answer, is_write: bool, now: str) -> DoorTrouble:
    reason = _refusal_text(answer, "GitHub broke down")
    if is_write:
        return Flaky(Unsure(reason), answer.status)
    is_general = answer.status in (502, 503, 504)
    return Flaky(Retry(reason, later(now, FIRST_WAIT), is_general), answer.status)


def unreadable(is_write: bool, now: str) -> DoorTrouble:
    """An answer that is cut, or of a form that GitHub's answers do not have."""
    reason = "the answer cannot be read: it was cut, or it is not GitHub that answers"
    return Flaky(Unsure(reason)) if is_write else Flaky(Retry(reason, later(now, FIRST_WAIT)))


def of_error(error: Exception, is_write: bool, now: str) -> DoorTrouble:
    """What it means that no answer came. The words of the error are left out: they may quote what was sent."""
    chain = tuple(_chain(error))
    if any(isinstance(link, ssl.SSLCertVerificationError) for link in chain):
        remedy = f"have the certificate trusted (REQUESTS_CA_BUNDLE names the file of your authority), {SYNC}"
        return DoorTrouble(Held("the certificate of GitHub's host is not trusted", remedy, is_general=True))
    if any(isinstance(link, _NOT_OUT) for link in chain):
        reason = f"no connection{_cause(chain)}{AGAIN}{NETWORK}"
        return DoorTrouble(Retry(reason, later(now, AFTER_REFUSED), is_general=True))
    if isinstance(error, (*_MALFORMED, AssertionError, RuntimeError)):
        remedy = f"look at `[tracker] base_url` and at the token; {DOCTOR}; {SYNC}"
        return DoorTrouble(Held(f"nothing could be asked: {type(error).__name__}", remedy, is_general=True))
    reason = f"the connection broke: {type(error).__name__}"
    if is_write:
        return Flaky(Unsure(reason))
    return Flaky(Retry(reason, later(now, AFTER_REFUSED), is_general=True))


def is_limit(answer: Answer) -> bool:
    """Whether it is a limit of the rate, of whatever kind."""
    words = answer.words.lower()
    if answer.status == 429 or (answer.status == 422 and "submitted too quickly" in words):
        return True
    spent = answer.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in answer.headers
    return answer.status == 403 and (spent or any(phrase in words for phrase in _LIMIT_WORDS))


def seconds_to_wait(answer: Answer, now: str, strikes: int) -> float:
    """As GitHub says; else a minute, and twice as long each time. At least a second, at most LONGEST_WAIT.

    A reset is a time of GitHub's clock, so it is compared with GitHub's own date where the answer has one.
    """
    wait = _retry_after(answer, now)
    if wait is None and answer.headers.get("x-ratelimit-remaining") == "0":
        wait = _until_reset(answer, now)
    if wait is None or wait < 0:
        wait = FIRST_WAIT * 2 ** min(strikes, 10)
    return min(max(wait, 1.0), LONGEST_WAIT)


def _retry_after(answer: Answer, now: str) -> float | None:
    value = answer.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    moment = _date(value)
    return None if moment is None else moment - github_time(answer, now)


def _until_reset(answer: Answer, now: str) -> float | None:
    value = answer.headers.get("x-ratelimit-reset", "").strip()
    if not (value.isascii() and value.isdigit()):
        return None
    return float(value[:12]) - github_time(answer, now) + 1.0


def github_time(answer: Answer, now: str) -> float:
    """Seconds since 1970 on GitHub's clock; on ours where the answer has no date."""
    moment = _date(answer.headers.get("date", ""))
    return datetime.fromisoformat(now).timestamp() if moment is None else moment


def _date(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was made from: requests and urllib3 hide the first cause in arguments and reasons.

    `__context__` is left out: it may be an older error that was being handled when this one came, and a refused
    connection of then must not make a write of now look as if it had not been sent.
    """
    seen: list[BaseException] = []
    waiting: list[object] = [error]
    while waiting:
        link = waiting.pop(0)
        if isinstance(link, BaseException) and link not in seen:
            seen.append(link)
            waiting += [*link.args, getattr(link, "reason", None), link.__cause__]
            yield link


def _cause(chain: tuple[BaseException, ...]) -> str:
    """What the operating system says, such as `: Connection refused`."""
    reasons = [link.strerror for link in chain if isinstance(link, OSError) and isinstance(link.strerror, str)]
    return f": {_plain(reasons[-1])}" if reasons else ""


def _refusal_text(answer: Answer, meaning: str) -> str:
    return f"{meaning} ({answer.status}{': ' + answer.words if answer.words else ''})"


def _plain(text: str) -> str:
    return "".join(char for char in text if char.isprintable() and char != "`")[:120]
