"""Pages of a list as GitHub gives them: how many, which, and the links to the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar
from urllib.parse import urlencode

from agent_fox.core.values import dataclass
from agent_fox.testing.github.wire import Request

DEFAULT, LARGEST = 30, 100
One = TypeVar("One")


@dataclass(frozen=True, slots=True)
class Place:
    """Which page is asked for."""

    page: int
    size: int


def place(request: Request) -> Place:
    return Place(_number(request, "page", 1, 10**9), _number(request, "per_page", DEFAULT, LARGEST))


def _number(request: Request, name: str, usual: int, most: int) -> int:
    given = request.query.get(name, "")
    return min(max(int(given), 1), most) if given.isdigit() else usual


def page(request: Request, all: Sequence[One]) -> tuple[Sequence[One], dict[str, str]]:
    """What stands on the page that is asked for, and the header that leads to the others."""
    asked = place(request)
    last = max(1, -(-len(all) // asked.size))
    others: dict[str, int] = {}
    if asked.page > 1:
        others |= {"prev": asked.page - 1, "first": 1}
    if asked.page < last:
        others |= {"next": asked.page + 1, "last": last}
    links = ", ".join(f'<{_address(request, number)}>; rel="{name}"' for name, number in others.items())
    begin = (asked.page - 1) * asked.size
    return all[begin : begin + asked.size], {"Link": links} if links else {}


def _address(request: Request, number: int) -> str:
    return f"{request.base}{request.path}?{urlencode(dict(request.query) | {'page': str(number)})}"
