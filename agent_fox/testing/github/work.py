"""What the fake GitHub does about pull requests, check runs, commit statuses, milestones and who may do what here."""

from __future__ import annotations

from pydantic import JsonValue

from agent_fox.testing.github.access import Actor, check_edit, check_seen
from agent_fox.testing.github.endpoints import Call
from agent_fox.testing.github.paging import page
from agent_fox.testing.github.state import (
    Account,
    Annotation,
    CheckRun,
    CommitStatus,
    Grant,
    Issue,
    Pull,
    Repository,
    Role,
)
from agent_fox.testing.github.wire import Answer, Refusal, answer, invalid, not_found

MOST_ANNOTATIONS = 50
LONGEST_DESCRIPTION = 140
LONGEST_OUTPUT = 65_535
_LEVELS = ("notice", "warning", "failure")


def list_pulls(call: Call, where: Repository) -> Answer:
    check_seen(where, call.actor)
    asked = call.request.query
    state, owner_and_head, base = asked.get("state", "open"), asked.get("head", ""), asked.get("base", "")
    head = owner_and_head.partition(":")[2]
    pulls = [
        issue
        for issue in where.issues.values()
        if issue.pull is not None
        and state in ("all", issue.face.state)
        and owner_and_head in ("", f"{where.owner}:{issue.pull.head}")
        and base in ("", issue.pull.base)
        and head in ("", issue.pull.head)
    ]
    pulls.sort(key=lambda issue: issue.number, reverse=asked.get("direction", "desc") == "desc")
    shown, links = page(call.request, pulls)
    return answer(200, [call.show.pull_request(where, issue, is_whole=False) for issue in shown], links)


def create_pull(call: Call, where: Repository) -> Answer:
    author = _allowed(call, where, _grant(call, "pulls"), "pull_requests=write")
    given = call.request.read()
    head, base, is_draft = str(given.get("head")), str(given.get("base")), given.get("draft") is True
    if head not in where.branches:
        raise invalid("PullRequest", "head", "invalid")
    if base not in where.branches:
        raise invalid("PullRequest", "base", "invalid")
    if where.branches[head] == where.branches[base]:
        raise _unprocessed("PullRequest", f"No commits between {base} and {head}")
    pulls = (issue for issue in where.issues.values() if issue.pull is not None and issue.is_open)
    if any(issue.pull and (issue.pull.head, issue.pull.base) == (head, base) for issue in pulls):
        raise _unprocessed("PullRequest", f"A pull request already exists for {where.owner}:{head}.")
    if is_draft and not where.has_drafts:
        raise Refusal(422, "Draft pull requests are not supported in this repository.")
    body = _short(given.get("body"), "PullRequest", "body", LONGEST_OUTPUT + 1)
    made = call.world.write_issue(where, author, str(given.get("title") or head), body, is_pull=True)
    made.pull = Pull(head, base, where.branches[head], is_draft)
    call.writes(made, author, body)
    shown = call.show.pull_request(where, made, is_whole=True)
    return answer(201, shown, {"Location": str(shown["url"])})


def edit_pull(call: Call, where: Repository, number: int) -> Answer:
    account = _allowed(call, where, _grant(call, "pulls"), "pull_requests=write")
    issue = pull_of(where, number)
    check_edit(issue.author, call.actor)
    given = call.request.read()
    changed = {name: str(given[name]) for name in ("title", "body") if given.get(name) is not None}
    _short(changed.get("body"), "PullRequest", "body", LONGEST_OUTPUT + 1)
    issue.change(call.world.clock(), **changed)
    call.writes(issue, account, changed.get("body"))
    return answer(200, call.show.pull_request(where, issue, is_whole=True))


def pull_of(where: Repository, number: int) -> Issue:
    issue = where.issues.get(number)
    if issue is None or issue.pull is None:
        raise not_found()
    return issue


def list_check_runs(call: Call, where: Repository, ref: str) -> Answer:
    check_seen(where, call.actor)
    sha, name = _commit(where, ref), call.request.query.get("check_name")
    runs = [run for run in reversed(where.check_runs) if run.sha == sha and name in (None, run.name)]
    if call.request.query.get("filter", "latest") == "latest":
        runs = list({(run.app, run.name): run for run in reversed(runs)}.values())
    shown, links = page(call.request, runs)
    listed: list[JsonValue] = [call.show.check_run(where, run) for run in shown]
    return answer(200, {"total_count": len(runs), "check_runs": listed}, links)


def create_check_run(call: Call, where: Repository) -> Answer:
    token = call.actor.token
    if token is not None and token.installation is None:
        raise Refusal(403, "You must authenticate via a GitHub App.")
    account = _allowed(call, where, _grant(call, "checks"), "checks=write")
    given = call.request.read()
    output = given.get("output")
    assert isinstance(output, dict)
    made = CheckRun(
        id=next(call.world.ids),
        name=str(given["name"]),
        sha=_commit(where, str(given["head_sha"])),
        external_id=str(given.get("external_id") or ""),
        status=str(given.get("status", "queued")),
        conclusion=None if given.get("conclusion") is None else str(given["conclusion"]),
        title=str(output["title"]),
        summary=_short(output["summary"], "CheckRun", "summary", LONGEST_OUTPUT),
        at=call.world.clock(),
        app=account.app or 0,
        annotations=annotations_in(output.get("annotations")),
    )
    where.check_runs.append(made)
    return answer(201, call.show.check_run(where, made))


def annotations_in(given: JsonValue) -> tuple[Annotation, ...]:
    rows = given if isinstance(given, list) else []
    if len(rows) > MOST_ANNOTATIONS:
        raise invalid("CheckRun", "annotations", "invalid")
    return tuple(annotation(row) for row in rows if isinstance(row, dict))


def annotation(row: dict[str, JsonValue]) -> Annotation:
    made = Annotation(str(row["path"]), int(str(row["start_line"])), str(row["annotation_level"]), str(row["message"]))
    if made.level not in _LEVELS or made.line < 1 or made.path.startswith("/"):
        raise invalid("CheckRun", "annotations", "invalid")
    return made


def list_statuses(call: Call, where: Repository, ref: str) -> Answer:
    check_seen(where, call.actor)
    sha = _commit(where, ref)
    shown, links = page(call.request, [status for status in reversed(where.statuses) if status.sha == sha])
    return answer(200, [call.show.status(where, status) for status in shown], links)


def create_status(call: Call, where: Repository, sha: str) -> Answer:
    account = _allowed(call, where, _grant(call, "statuses"), "statuses=write")
    given = call.request.read()
    made = CommitStatus(
        id=next(call.world.ids),
        sha=_commit(where, sha),
        context=str(given.get("context", "default")),
        state=str(given["state"]),
        description=_short(given.get("description"), "Status", "description", LONGEST_DESCRIPTION),
        by=account,
        at=call.world.clock(),
    )
    where.statuses.append(made)
    shown = call.show.status(where, made)
    return answer(201, shown, {"Location": str(shown["url"])})


def list_milestones(call: Call, where: Repository) -> Answer:
    check_seen(where, call.actor)
    shown, links = page(call.request, sorted(where.milestones))
    return answer(200, [call.show.milestone(where, number) for number in shown], links)


def check_assignee(call: Call, where: Repository, login: str) -> Answer:
    """204 for somebody who can be assigned, with no body."""
    check_seen(where, call.actor)
    if where.role_of(login) <= Role.NONE:
        raise not_found()
    return Answer(204)


def get_permission(call: Call, where: Repository, login: str) -> Answer:
    """What somebody may do here, for those who may push."""
    check_seen(where, call.actor)
    if call.actor.role < Role.WRITE:
        raise Refusal(403, "Must have push access to view collaborator permission.")
    account = call.world.accounts.get(login)
    if account is None:
        raise not_found()
    return answer(200, call.show.permission(account, where.role_of(login)))


def _grant(call: Call, kind: str) -> Grant:
    token = call.actor.token
    grant: Grant = Grant.NONE if token is None else getattr(token, kind)
    return grant


def _allowed(call: Call, where: Repository, grant: Grant, permission: str) -> Account:
    """The account that writes, with its token's grant and a role. Raises Refusal."""
    check_seen(where, call.actor)
    account = call.actor.account
    if grant < Grant.WRITE or call.actor.role < Role.WRITE:
        raise refused(call.actor, permission)
    if where.is_archived:
        raise Refusal(403, "Repository was archived so is read-only.")
    return account


def refused(who: Actor, permission: str) -> Refusal:
    headers = {"X-Accepted-GitHub-Permissions": permission}
    return Refusal(403, f"Resource not accessible by {who.kind}", headers=headers)


def _commit(where: Repository, ref: str) -> str:
    sha = where.branches.get(ref, ref)
    if sha not in where.commits:
        raise Refusal(422, f"No commit found for SHA: {ref}")
    return sha


def _short(given: JsonValue, resource: str, name: str, most: int) -> str:
    text = str(given or "")
    if len(text) > most:
        raise invalid(resource, name, "custom", f"{name} is too long (maximum is {most} characters)")
    return text


def _unprocessed(resource: str, message: str) -> Refusal:
    return Refusal(422, "Validation Failed", [{"resource": resource, "code": "custom", "message": message}])
