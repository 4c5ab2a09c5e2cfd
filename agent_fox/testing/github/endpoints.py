"""What the fake GitHub does for requests on issues, comments and labels, by GitHub's rules. No faults, no limits."""

from __future__ import annotations

import re
from dataclasses import field
from random import Random

from pydantic import JsonValue

from agent_fox.core.values import dataclass
from agent_fox.testing.github.access import Actor, check_edit, check_read, check_seen, check_unlocked, check_write
from agent_fox.testing.github.paging import page, place
from agent_fox.testing.github.shown import Show
from agent_fox.testing.github.state import Account, Comment, Issue, Label, Repository, Role, World, stamp
from agent_fox.testing.github.wire import Answer, Refusal, Request, answer, invalid, not_found

LONGEST_TITLE, LONGEST_BODY = 256, 65_536
LONGEST_LABEL, LONGEST_LABEL_DESCRIPTION = 50, 100
MOST_CHILDREN = 100
_REASONS = ("completed", "not_planned", "duplicate", "reopened")


@dataclass(slots=True)
class Knobs:
    """What can be made to go wrong for long.

    `lag`: lists show what was so many seconds ago. `comment_lag`: the same for comments. `empty_chance`: how often the
    list of issues is empty for no reason. `missing_pages`: pages of that list which come empty, with the right links.
    `drops_labels`: as if nobody could push.
    """

    lag: float = 0.0
    comment_lag: float = 0.0
    empty_chance: float = 0.0
    missing_pages: set[int] = field(default_factory=set)
    drops_labels: bool = False
    random: Random = field(default_factory=lambda: Random(0))


@dataclass(frozen=True, slots=True)
class Written:
    """A text that somebody wrote with the API: GitHub would read it for mentions and references."""

    number: int
    author: str
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One request with all that answering takes."""

    world: World
    knobs: Knobs
    written: list[Written]
    request: Request
    actor: Actor
    show: Show

    def writes(self, issue: Issue, author: Account, text: str | None) -> None:
        if text:
            self.written.append(Written(issue.number, author.login, text))


def get_repository(call: Call, where: Repository) -> Answer:
    check_seen(where, call.actor)
    return answer(200, call.show.repository(where, call.actor.role))


def list_issues(call: Call, where: Repository) -> Answer:
    check_read(where, call.actor)
    at = call.world.clock() - call.knobs.lag
    issues = [issue for issue in where.issues.values() if _is_listed(call.request, issue, at)]
    issues.sort(key=lambda issue: _rank(call.request, issue, at), reverse=call.request.query.get("direction") != "asc")
    if call.knobs.empty_chance and call.knobs.random.random() < call.knobs.empty_chance:
        issues = []
    shown, links = page(call.request, issues)
    if place(call.request).page in call.knobs.missing_pages:
        shown = []
    return answer(200, [call.show.issue(where, issue, at) for issue in shown], links)


def _is_listed(request: Request, issue: Issue, at: float) -> bool:
    face = issue.face_at(at)
    if face is None:
        return False
    state, creator = request.query.get("state", "open"), request.query.get("creator", "").lower()
    wanted = {label for label in request.query.get("labels", "").split(",") if label}
    return (
        state in ("all", face.state)
        and creator in ("", issue.author.login.lower())
        and wanted <= set(face.labels)
        and stamp(face.since) >= request.query.get("since", "")
    )


def _rank(request: Request, issue: Issue, at: float) -> tuple[float, int]:
    face = issue.face_at(at) or issue.face
    by = {"updated": face.since, "comments": float(len(issue.comments))}
    return by.get(request.query.get("sort", ""), issue.created), issue.number


def create_issue(call: Call, where: Repository) -> Answer:
    author = check_write(where, call.actor)
    given = call.request.read()
    title, body = _text(given, "title"), _text(given, "body")
    if not title:
        raise invalid("Issue", "title", "missing_field")
    _check_sizes(title, body)
    labels = _labels(call, where, given)
    assignees, milestone, kind = (
        assignees_in(call, where, given),
        milestone_in(call, where, given),
        type_in(where, given),
    )
    made = call.world.write_issue(where, author, title, body, labels or ())
    made.assignees, made.milestone, made.type = assignees, milestone, kind
    call.writes(made, author, body)
    shown = call.show.issue(where, made)
    return answer(201, shown, {"Location": str(shown["url"])})


def _text(given: dict[str, JsonValue], name: str) -> str | None:
    """A member that must be text (a title may be a number)."""
    value = given.get(name)
    if name == "title" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is not None and not isinstance(value, str):
        raise Refusal(422, f"Invalid request.\n\nFor 'properties/{name}', {value!r} is not a string.")
    return value


def _check_sizes(title: str | None, body: str | None) -> None:
    if title is not None and len(title) > LONGEST_TITLE:
        raise invalid("Issue", "title", "custom", f"title is too long (maximum is {LONGEST_TITLE} characters)")
    _check_body("Issue", body)


def _check_body(resource: str, body: str | None) -> None:
    if body is not None and len(body) > LONGEST_BODY:
        raise invalid(resource, "body", "custom", f"body is too long (maximum is {LONGEST_BODY} characters)")


def _labels(call: Call, where: Repository, given: dict[str, JsonValue]) -> tuple[str, ...] | None:
    """The labels that are set: those unknown are made, and all are dropped for one who cannot push."""
    named = given.get("labels")
    if named is None:
        return None
    if not isinstance(named, list):
        raise Refusal(422, f"Invalid request.\n\nFor 'properties/labels', {named!r} is not an array.")
    names = [_label_name(label) for label in named]
    if call.knobs.drops_labels or call.actor.role < Role.TRIAGE:
        return None
    return tuple(dict.fromkeys(_kept(call.world, where, name) for name in names))


def assignees_in(call: Call, where: Repository, given: dict[str, JsonValue]) -> tuple[str, ...]:
    """Dropped for one who cannot push, as labels are; a login that has no role here is an error."""
    named = given.get("assignees") or []
    assert isinstance(named, list)
    if call.actor.role < Role.WRITE:
        return ()
    for login in named:
        if where.role_of(str(login)) <= Role.NONE:
            raise invalid("Issue", "assignees", "invalid")
    return tuple(map(str, named))


def milestone_in(call: Call, where: Repository, given: dict[str, JsonValue]) -> int | None:
    number = given.get("milestone")
    if number is None or call.actor.role < Role.WRITE:
        return None
    if number not in where.milestones:
        raise invalid("Issue", "milestone", "invalid")
    return int(str(number))


def type_in(where: Repository, given: dict[str, JsonValue]) -> str:
    kind = given.get("type")
    if kind is not None and kind not in where.issue_types:
        raise invalid("Issue", "type", "invalid")
    return str(kind or "")


def _label_name(one: JsonValue) -> str:
    name = one.get("name") if isinstance(one, dict) else one
    if not isinstance(name, str) or not name:
        raise Refusal(422, f"Invalid request.\n\nFor 'links/0/schema', {one!r} is not a string.")
    if len(name) > LONGEST_LABEL:
        raise invalid("Label", "name", "custom", f"name is too long (maximum is {LONGEST_LABEL} characters)")
    return name


def _kept(world: World, where: Repository, name: str) -> str:
    known = _label(where, name)
    if known is None:
        where.labels[name] = known = Label(next(world.ids), name)
    return known.name


def _label(where: Repository, name: str) -> Label | None:
    """Names of labels differ by more than the case of their letters."""
    return next((label for label in where.labels.values() if label.name.lower() == name.lower()), None)


def get_issue(call: Call, where: Repository, number: int) -> Answer:
    check_read(where, call.actor)
    return answer(200, call.show.issue(where, _issue(where, number)))


def _issue(where: Repository, number: int) -> Issue:
    if number in where.deleted:
        raise Refusal(410, "This issue was deleted")
    if number not in where.issues:
        raise not_found()
    return where.issues[number]


def edit_issue(call: Call, where: Repository, number: int) -> Answer:
    account = check_write(where, call.actor)
    issue = _issue(where, number)
    check_edit(issue.author, call.actor)
    given = call.request.read()
    title, body, state = _text(given, "title"), _text(given, "body"), _state(given)
    _check_sizes(title, body)
    labels = _labels(call, where, given)
    values = {"title": title, "body": body, "labels": labels}
    changed = {name: value for name, value in values.items() if name in given and value is not None}
    if changed:
        issue.change(call.world.clock(), **changed)
        call.writes(issue, account, body)
    if state is not None:
        call.world.set_state(issue, account, *state)
    return answer(200, call.show.issue(where, issue))


def _state(given: dict[str, JsonValue]) -> tuple[str, str | None] | None:
    state, reason = given.get("state"), given.get("state_reason")
    if state is not None and state not in ("open", "closed"):
        raise invalid("Issue", "state", "invalid")
    if reason is not None and reason not in _REASONS:
        raise invalid("Issue", "state_reason", "invalid")
    return None if state is None else (str(state), None if reason is None else str(reason))


def list_comments(call: Call, where: Repository, number: int) -> Answer:
    check_read(where, call.actor)
    issue = _issue(where, number)
    until, since = call.world.clock() - call.knobs.comment_lag, call.request.query.get("since", "")
    comments = [comment for comment in issue.comments if comment.created <= until and stamp(comment.updated) >= since]
    shown, links = page(call.request, comments)
    return answer(200, [call.show.comment(where, issue, comment) for comment in shown], links)


def create_comment(call: Call, where: Repository, number: int) -> Answer:
    author = check_write(where, call.actor)
    issue = _issue(where, number)
    check_unlocked(issue, call.actor)
    body = _comment_body(call)
    made = call.world.write_comment(issue, author, body)
    call.writes(issue, author, body)
    shown = call.show.comment(where, issue, made)
    return answer(201, shown, {"Location": str(shown["url"])})


def _comment_body(call: Call) -> str:
    body = _text(call.request.read(), "body")
    if not body:
        raise invalid("IssueComment", "body", "missing_field")
    _check_body("IssueComment", body)
    return body


def get_comment(call: Call, where: Repository, id: int) -> Answer:
    check_read(where, call.actor)
    issue, comment = _comment(where, id)
    return answer(200, call.show.comment(where, issue, comment))


def _comment(where: Repository, id: int) -> tuple[Issue, Comment]:
    matches = ((issue, comment) for issue in where.issues.values() for comment in issue.comments if comment.id == id)
    first = next(matches, None)
    if first is None:
        raise not_found()
    return first


def edit_comment(call: Call, where: Repository, id: int) -> Answer:
    account = check_write(where, call.actor)
    issue, comment = _comment(where, id)
    check_edit(comment.author, call.actor)
    comment.body, comment.updated = _comment_body(call), call.world.clock()
    call.writes(issue, account, comment.body)
    return answer(200, call.show.comment(where, issue, comment))


def list_labels(call: Call, where: Repository) -> Answer:
    check_read(where, call.actor)
    shown, links = page(call.request, sorted(where.labels.values(), key=lambda label: label.name))
    return answer(200, [call.show.label(where, label) for label in shown], links)


def get_label(call: Call, where: Repository, name: str) -> Answer:
    check_read(where, call.actor)
    label = _label(where, name)
    if label is None:
        raise not_found()
    return answer(200, call.show.label(where, label))


def create_label(call: Call, where: Repository) -> Answer:
    check_write(where, call.actor)
    if call.actor.role < Role.WRITE:
        raise not_found()
    given = call.request.read()
    name, description = _label_name(given.get("name")), _text(given, "description")
    color = _text(given, "color") or "ededed"
    _check_label(where, name, color, description or "")
    made = where.labels[name] = Label(next(call.world.ids), name, color, description)
    shown = call.show.label(where, made)
    return answer(201, shown, {"Location": str(shown["url"])})


def _check_label(where: Repository, name: str, color: str, description: str) -> None:
    if _label(where, name) is not None:
        raise invalid("Label", "name", "already_exists")
    if re.fullmatch(r"[0-9a-fA-F]{6}", color) is None:
        raise invalid("Label", "color", "invalid")
    if len(description) > LONGEST_LABEL_DESCRIPTION:
        most = f"description is too long (maximum is {LONGEST_LABEL_DESCRIPTION} characters)"
        raise invalid("Label", "description", "custom", most)


def list_children(call: Call, where: Repository, number: int) -> Answer:
    check_read(where, call.actor)
    children = [call.world.issue(id) for id in _issue(where, number).children]
    shown, links = page(call.request, [child for child in children if child is not None])
    return answer(200, [call.show.issue(*child) for child in shown], links)


def add_child(call: Call, where: Repository, number: int) -> Answer:
    check_write(where, call.actor)
    parent = _issue(where, number)
    check_edit(parent.author, call.actor)
    given = call.request.read()
    id = given.get("sub_issue_id")
    if not isinstance(id, int):
        raise Refusal(422, 'Invalid request.\n\n"sub_issue_id" wasn\'t supplied.')
    child = call.world.issue(id)
    if child is None:
        raise not_found()
    _adopt(call, parent, child[1], is_replacing=given.get("replace_parent") is True)
    return answer(201, call.show.issue(where, parent))


def _adopt(call: Call, parent: Issue, child: Issue, *, is_replacing: bool) -> None:
    problem = ""
    if child.id in parent.children:
        problem = "Issue may not contain duplicate sub-issues"
    elif child.parent is not None and not is_replacing:
        problem = "Sub issue may only have one parent"
    elif child.id == parent.id or len(parent.children) >= MOST_CHILDREN:
        problem = f"Parent cannot have more than {MOST_CHILDREN} sub-issues, nor itself"
    if problem:
        raise Refusal(422, f"An error occurred while adding the sub-issue to the parent issue. {problem}")
    old = call.world.issue(child.parent) if child.parent is not None else None
    if old is not None:
        old[1].children.remove(child.id)
    parent.children.append(child.id)
    child.parent = parent.id
