"""Which function answers which path. A repository that was renamed and an issue that was transferred are led on."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import unquote, urlencode

from agent_fox.core.regex import regex
from agent_fox.testing.github import accounts, endpoints, work
from agent_fox.testing.github.access import check_seen, may_see
from agent_fox.testing.github.endpoints import Call
from agent_fox.testing.github.limits import Limits
from agent_fox.testing.github.state import Repository
from agent_fox.testing.github.wire import Answer, Refusal, answer, not_found

_REPOSITORY = regex(r"/(?:repos/(?P<name>[^/]+/[^/]+)|repositories/(?P<id>\d+))(?P<rest>/.*|)$")
_ISSUE = regex(r"/issues/(\d+)(/.*|)$")

_WHOLE: dict[tuple[str, str], Callable[[Call, Repository], Answer]] = {
    ("GET", ""): endpoints.get_repository,
    ("GET", "/issues"): endpoints.list_issues,
    ("POST", "/issues"): endpoints.create_issue,
    ("GET", "/labels"): endpoints.list_labels,
    ("POST", "/labels"): endpoints.create_label,
    ("GET", "/installation"): accounts.get_installation,
    ("GET", "/pulls"): work.list_pulls,
    ("POST", "/pulls"): work.create_pull,
    ("POST", "/check-runs"): work.create_check_run,
    ("GET", "/milestones"): work.list_milestones,
}
_OF_ISSUE: dict[tuple[str, str], Callable[[Call, Repository, int], Answer]] = {
    ("GET", ""): endpoints.get_issue,
    ("PATCH", ""): endpoints.edit_issue,
    ("GET", "/comments"): endpoints.list_comments,
    ("POST", "/comments"): endpoints.create_comment,
    ("GET", "/sub_issues"): endpoints.list_children,
    ("POST", "/sub_issues"): endpoints.add_child,
}
_OF_COMMENT: dict[str, Callable[[Call, Repository, int], Answer]] = {
    "GET": endpoints.get_comment,
    "PATCH": endpoints.edit_comment,
}


def answered(call: Call, limits: Limits) -> Answer:
    """What GitHub answers. Raises Refusal."""
    path = call.request.path.rstrip("/")
    within = _REPOSITORY.match(path)
    if within is None:
        return _elsewhere(call, path, limits)
    where, is_old = _repository(call, within["name"], within["id"])
    if is_old:
        return _moved(call, f"/repositories/{where.id}{within['rest']}", 307 if call.request.is_write else 301)
    return _within(call, where, within["rest"])


def _elsewhere(call: Call, path: str, limits: Limits) -> Answer:
    match call.request.method, path.strip("/").split("/"):
        case "GET", ["user"]:
            return accounts.get_user(call)
        case "GET", ["users", login]:
            return accounts.get_account(call, login)
        case "GET", ["app"]:
            return accounts.get_app(call)
        case "GET", ["rate_limit"]:
            return accounts.rate_limit(limits)
        case "GET", ["app", "installations", number] if number.isdigit():
            return accounts.get_installation_by_number(call, int(number))
        case "POST", ["app", "installations", number, "access_tokens"] if number.isdigit():
            return accounts.create_token(call, int(number))
        case _:
            raise not_found()


def _repository(call: Call, name: str | None, id: str | None) -> tuple[Repository, bool]:
    """The repository that is meant, and whether it is called by a name that it had once."""
    world = call.world
    repository = world.repositories.get(int(id)) if id else world.named(name or "")
    if repository is not None:
        return repository, False
    old = world.repositories.get(world.renamed.get((name or "").lower(), 0))
    if old is None:
        raise not_found()
    check_seen(old, call.actor)
    return old, True


def _moved(call: Call, path: str, status: int) -> Answer:
    """Where it is now: 301 for what may be asked again by anyone, 307 for what must be sent again as it was."""
    query = f"?{urlencode(dict(call.request.query))}" if call.request.query else ""
    location = f"{call.request.base}{path}{query}"
    body = {"message": "Moved Permanently", "url": location, "documentation_url": "https://docs.github.com/rest"}
    return answer(status, dict(body), {"Location": location})


def _within(call: Call, where: Repository, rest: str) -> Answer:
    method = call.request.method
    whole = _WHOLE.get((method, rest))
    if whole is not None:
        return whole(call, where)
    if match := re.fullmatch(r"/issues/comments/(\d+)", rest):
        return _for(_OF_COMMENT.get(method))(call, where, int(match[1]))
    if match := re.fullmatch(r"/labels/([^/]+)", rest):
        return endpoints.get_label(call, where, unquote(match[1]))
    if match := _ISSUE.fullmatch(rest):
        return _of_issue(call, where, int(match[1]), match[2])
    return _of_work(call, where, f"{method} {rest}")


def _of_work(call: Call, where: Repository, asked: str) -> Answer:
    """Pull requests, commits and people."""
    if match := re.fullmatch(r"PATCH /pulls/(\d+)", asked):
        return work.edit_pull(call, where, int(match[1]))
    if match := re.fullmatch(r"POST /statuses/([^/]+)", asked):
        return work.create_status(call, where, match[1])
    if match := re.fullmatch(r"GET /commits/([^/]+)/(check-runs|statuses)", asked):
        listed = work.list_check_runs if match[2] == "check-runs" else work.list_statuses
        return listed(call, where, match[1])
    if match := re.fullmatch(r"GET /assignees/([^/]+)", asked):
        return work.check_assignee(call, where, unquote(match[1]))
    if match := re.fullmatch(r"GET /collaborators/([^/]+)/permission", asked):
        return work.get_permission(call, where, unquote(match[1]))
    raise not_found()


def _of_issue(call: Call, where: Repository, number: int, rest: str) -> Answer:
    if number in where.moved and may_see(where, call.actor):
        there, new = where.moved[number]
        return _moved(call, f"/repositories/{there}/issues/{new}{rest}", 307 if call.request.method == "POST" else 301)
    return _for(_OF_ISSUE.get((call.request.method, rest)))(call, where, number)


def _for(found: Callable[[Call, Repository, int], Answer] | None) -> Callable[[Call, Repository, int], Answer]:
    if found is None:
        raise Refusal(404, "Not Found")
    return found
