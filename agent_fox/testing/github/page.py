"""What the fake shows beside the API: its state as JSON, and an issue as a plain page, so that links lead somewhere."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from markdown_it import MarkdownIt

from agent_fox.core.regex import regex
from agent_fox.testing.github.fake import GitHubFake
from agent_fox.testing.github.shown import Show
from agent_fox.testing.github.state import Issue, Repository, stamp
from agent_fox.testing.github.wire import Answer, Request, answer

STATE = "/_fake/issues"
_ISSUE = regex(r"/([^/]+/[^/]+)/(?:issues|pull)/(\d+)$")
_LIST = regex(r"/([^/]+/[^/]+)/issues/?$")
_NOT_PAGES = ("/repos/", "/repositories/", "/app/")


def page(fake: GitHubFake, request: Request) -> Answer | None:
    """The page that is asked for; None where the API is meant."""
    if request.method != "GET" or request.path.startswith(_NOT_PAGES):
        return None
    if request.path == STATE:
        return _state(fake, request)
    if match := _LIST.match(request.path):
        where = fake.world.named(match[1])
        return None if where is None else _html(_list(where))
    if match := _ISSUE.match(request.path):
        where = fake.world.named(match[1])
        issue = where.issues.get(int(match[2])) if where else None
        return None if where is None or issue is None else _html(_issue(where, issue))
    return None


def _state(fake: GitHubFake, request: Request) -> Answer:
    """All issues with their comments, as the API shows them."""
    show = Show(fake.world, request.base, request.pages)
    return answer(
        200,
        [
            show.issue(where, issue)
            | {"all_comments": [show.comment(where, issue, comment) for comment in issue.comments]}
            for where in fake.world.repositories.values()
            for issue in where.issues.values()
        ],
    )


def _html(body: str) -> Answer:
    style = "body{max-width:52em;margin:2em auto;font-family:sans-serif}pre{overflow-x:auto;background:#eee}"
    text = f"<!doctype html><meta charset=utf-8><style>{style}</style>{body}"
    return Answer(200, text.encode(), {"Content-Type": "text/html; charset=utf-8"})


def _list(where: Repository) -> str:
    rows = (
        f'<li>{_mark(it)} <a href="/{where.full_name}/issues/{it.number}">#{it.number}</a> {escape(it.face.title)}'
        for it in reversed(where.issues.values())
    )
    return f"<h1>{escape(where.full_name)}</h1><ul>{''.join(rows)}</ul>"


def _issue(where: Repository, issue: Issue) -> str:
    labels = ", ".join(map(escape, issue.face.labels)) or "no labels"
    head = f"<h1>#{issue.number} {escape(issue.face.title)}</h1><p>{_mark(issue)} · {labels}</p>"
    texts = [(issue.author.login, issue.created, issue.face.body or "")]
    texts += [(comment.author.login, comment.created, comment.body) for comment in issue.comments]
    return head + "".join(f"<hr><p><b>{escape(who)}</b> {stamp(at)}</p>{_rendered(text)}" for who, at, text in texts)


def _mark(issue: Issue) -> str:
    return issue.face.state if issue.is_open else f"closed ({issue.face.reason})"


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _rendered(text: str) -> str:
    """Markdown as a page, without the comments that GitHub does not show."""
    return str(_markdown().render(re.sub(r"<!--.*?-->", "", text, flags=re.S)))
