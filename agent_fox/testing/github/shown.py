"""How the fake GitHub writes what it remembers as JSON, every member that its description demands. Decides nothing."""

from __future__ import annotations

from pydantic import JsonValue

from agent_fox.core.values import dataclass
from agent_fox.testing.github.state import (
    Account,
    App,
    CheckRun,
    Comment,
    CommitStatus,
    Face,
    Issue,
    Label,
    Repository,
    Role,
    World,
    stamp,
)

_USER_LINKS = (
    *("followers", "following", "gists", "starred", "subscriptions", "organizations", "repos", "events"),
    "received_events",
)
_REPOSITORY_LINKS = (
    *("archive", "assignees", "blobs", "branches", "collaborators", "comments", "commits", "compare", "contents"),
    *("contributors", "deployments", "downloads", "events", "forks", "git_commits", "git_refs", "git_tags", "hooks"),
    *("issue_comment", "issue_events", "issues", "keys", "labels", "languages", "merges", "milestones"),
    *("notifications", "pulls", "releases", "stargazers", "statuses", "subscribers", "subscription", "tags", "teams"),
    "trees",
)
_REACTIONS = ("total_count", "+1", "-1", "laugh", "confused", "heart", "hooray", "eyes", "rocket")
Shown = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Show:
    """Writes objects for one request: `base` begins the API's addresses, `pages` those for people."""

    world: World
    base: str
    pages: str

    def account(self, who: Account) -> Shown:
        url = f"{self.base}/users/{who.login}"
        links: Shown = {f"{name}_url": f"{url}/{name}" for name in _USER_LINKS}
        return links | {
            "login": who.login,
            "id": who.id,
            "node_id": f"U_{who.id}",
            "avatar_url": f"{self.pages}/avatars/{who.id}",
            "gravatar_id": "",
            "url": url,
            "html_url": f"{self.pages}/{who.login}",
            "type": "Bot" if who.is_bot else "User",
            "site_admin": False,
        }

    def oneself(self, who: Account) -> Shown:
        """An account as it sees itself."""
        blank: Shown = dict.fromkeys(("name", "company", "blog", "location", "email", "hireable", "bio"))
        counts: Shown = dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0)
        times: Shown = {"created_at": stamp(0), "updated_at": stamp(0), "user_view_type": "public"}
        return self.account(who) | blank | counts | times

    def repository(self, where: Repository, role: Role) -> Shown:
        url = self.repository_url(where)
        page = f"{self.pages}/{where.full_name}"
        links: Shown = {f"{name}_url": f"{url}/{name}" for name in _REPOSITORY_LINKS}
        opened = sum(issue.is_open for issue in where.issues.values())
        blank: Shown = dict.fromkeys(("description", "homepage", "language", "mirror_url", "license"))
        counted = ("forks", "forks_count", "stargazers_count", "watchers", "watchers_count", "size")
        counts: Shown = dict.fromkeys((*counted, "network_count", "subscribers_count"), 0)
        switches: Shown = dict.fromkeys(("fork", "has_projects", "has_wiki", "has_pages", "has_discussions"), False)
        return links | blank | counts | switches | {
            "id": where.id,
            "node_id": f"R_{where.id}",
            "name": where.name,
            "full_name": where.full_name,
            "owner": self.account(self.world.account(where.owner)),
            "private": where.is_private,
            "html_url": page,
            "url": url,
            "clone_url": f"{page}.git",
            "git_url": f"git://{page.partition('//')[2]}.git",
            "ssh_url": f"git@{self.pages.partition('//')[2]}:{where.full_name}.git",
            "svn_url": page,
            "default_branch": where.default_branch,
            "open_issues": opened,
            "open_issues_count": opened,
            "has_issues": where.has_issues,
            "has_downloads": True,
            "archived": where.is_archived,
            "disabled": False,
            "visibility": "private" if where.is_private else "public",
            "permissions": self.permissions(role),
            "pushed_at": stamp(where.created),
            "created_at": stamp(where.created),
            "updated_at": stamp(where.created),
        }  # fmt: skip

    def permissions(self, role: Role) -> Shown:
        return {
            "admin": False,
            "maintain": False,
            "push": role >= Role.WRITE,
            "triage": role >= Role.TRIAGE,
            "pull": True,
        }

    def repository_url(self, where: Repository) -> str:
        return f"{self.base}/repos/{where.full_name}"

    def issue_page(self, where: Repository, issue: Issue) -> str:
        return f"{self.pages}/{where.full_name}/{'pull' if issue.is_pull else 'issues'}/{issue.number}"

    def issue(self, where: Repository, issue: Issue, at: float | None = None) -> Shown:
        """An issue as it is now, or as it looked `at` an earlier time."""
        face = issue.face if at is None else issue.face_at(at) or issue.face
        url = f"{self.repository_url(where)}/issues/{issue.number}"
        children = [place[1] for place in map(self.world.issue, issue.children) if place is not None]
        closed = sum(not child.is_open for child in children)
        parent = self.world.issue(issue.parent) if issue.parent is not None else None
        shown: Shown = {
            "id": issue.id,
            "node_id": f"I_{issue.id}",
            "url": url,
            "repository_url": self.repository_url(where),
            "labels_url": f"{url}/labels{{/name}}",
            "comments_url": f"{url}/comments",
            "events_url": f"{url}/events",
            "timeline_url": f"{url}/timeline",
            "html_url": self.issue_page(where, issue),
            "number": issue.number,
            "user": self.account(issue.author),
            "author_association": self.association(where, issue.author),
            "comments": sum(at is None or comment.created <= at for comment in issue.comments),
            "created_at": stamp(issue.created),
            "updated_at": stamp(face.since),
            "assignee": self._first_assignee(issue),
            "assignees": self._assignees(issue),
            "milestone": self._milestone(where, issue),
            "type": self._type(issue),
            "reactions": self.reactions(url),
            "performed_via_github_app": None,
            "sub_issues_summary": {
                "total": len(children),
                "completed": closed,
                "percent_completed": closed * 100 // len(children) if children else 0,
            },
            "parent_issue_url": f"{self.repository_url(parent[0])}/issues/{parent[1].number}" if parent else None,
        }
        return shown | self.face(where, face) | (self.pull(where, issue) if issue.is_pull else {})

    def face(self, where: Repository, face: Face) -> Shown:
        return {
            "title": face.title,
            "body": face.body,
            "state": face.state,
            "state_reason": face.reason,
            "closed_at": None if face.closed is None else stamp(face.closed),
            "closed_by": None if face.closed_by is None else self.account(face.closed_by),
            "locked": face.is_locked,
            "active_lock_reason": face.lock_reason,
            "labels": [self.label(where, where.labels[name]) for name in face.labels if name in where.labels],
        }

    def pull(self, where: Repository, issue: Issue) -> Shown:
        page = self.issue_page(where, issue)
        links: Shown = {
            "url": f"{self.repository_url(where)}/pulls/{issue.number}",
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": None,
        }
        return {"pull_request": links, "draft": issue.pull is not None and issue.pull.is_draft}

    def _assignees(self, issue: Issue) -> list[JsonValue]:
        return [self.account(self.world.account(login)) for login in issue.assignees]

    def _first_assignee(self, issue: Issue) -> JsonValue:
        return next(iter(self._assignees(issue)), None)

    def _milestone(self, where: Repository, issue: Issue) -> JsonValue:
        return None if issue.milestone is None else self.milestone(where, issue.milestone)

    def _type(self, issue: Issue) -> JsonValue:
        if not issue.type:
            return None
        return {"id": 1, "node_id": "IT_1", "name": issue.type, "description": None, "is_enabled": True}

    def milestone(self, where: Repository, number: int) -> Shown:
        url = f"{self.repository_url(where)}/milestones/{number}"
        return {
            "id": number,
            "node_id": f"MI_{number}",
            "number": number,
            "title": where.milestones[number],
            "description": None,
            "url": url,
            "labels_url": f"{url}/labels",
            "html_url": f"{self.pages}/{where.full_name}/milestone/{number}",
            "state": "open",
            "creator": self.account(self.world.account(where.owner)),
            "open_issues": 0,
            "closed_issues": 0,
            "created_at": stamp(where.created),
            "updated_at": stamp(where.created),
            "closed_at": None,
            "due_on": None,
        }

    def pull_request(self, where: Repository, issue: Issue, *, is_whole: bool) -> Shown:
        """A pull request of its own list, or by itself, when it `is_whole`."""
        pull, url, page = (
            issue.pull,
            f"{self.repository_url(where)}/pulls/{issue.number}",
            self.issue_page(where, issue),
        )
        assert pull is not None
        addresses = {
            "self": url,
            "html": page,
            "issue": f"{self.repository_url(where)}/issues/{issue.number}",
            "comments": f"{self.repository_url(where)}/issues/{issue.number}/comments",
            "commits": f"{url}/commits",
            "review_comments": f"{url}/comments",
            "review_comment": f"{self.repository_url(where)}/pulls/comments{{/number}}",
            "statuses": f"{self.repository_url(where)}/statuses/{pull.sha}",
        }
        base = where.branches.get(pull.base, "0" * 40)
        face = issue.face
        shown: Shown = {
            "id": issue.id,
            "node_id": f"PR_{issue.id}",
            "number": issue.number,
            "url": url,
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            **{f"{name}_url": addresses[name] for name in addresses if name not in ("self", "html")},
            "state": face.state,
            "locked": face.is_locked,
            "title": face.title,
            "body": face.body,
            "user": self.account(issue.author),
            "labels": [],
            "milestone": self._milestone(where, issue),
            "created_at": stamp(issue.created),
            "updated_at": stamp(face.since),
            "closed_at": None if face.closed is None else stamp(face.closed),
            "merged_at": None if pull.merged is None else stamp(pull.merged),
            "merge_commit_sha": None,
            "assignee": self._first_assignee(issue),
            "assignees": self._assignees(issue),
            "head": self._end(where, pull.head, pull.sha),
            "base": self._end(where, pull.base, base),
            "_links": {name: {"href": address} for name, address in addresses.items()},
            "author_association": self.association(where, issue.author),
            "auto_merge": None,
            "draft": pull.is_draft,
        }
        return shown | (self._counts(issue) if is_whole else {})

    def _counts(self, issue: Issue) -> Shown:
        assert issue.pull is not None
        return {
            "merged": issue.pull.merged is not None,
            "mergeable": None,
            "mergeable_state": "unknown",
            "merged_by": None,
            "maintainer_can_modify": False,
            "comments": len(issue.comments),
            **dict.fromkeys(("review_comments", "commits", "additions", "deletions", "changed_files"), 0),
        }

    def _end(self, where: Repository, branch: str, sha: str) -> Shown:
        """One of the two branches of a pull request."""
        whole = self.repository(where, Role.NONE)
        repository = {name: whole[name] for name in whole if name not in ("network_count", "subscribers_count")}
        owner = self.account(self.world.account(where.owner))
        return {"label": f"{where.owner}:{branch}", "ref": branch, "sha": sha, "repo": repository, "user": owner}

    def check_run(self, where: Repository, run: CheckRun) -> Shown:
        url, at = f"{self.repository_url(where)}/check-runs/{run.id}", stamp(run.at)
        output: Shown = {"title": run.title, "summary": run.summary, "text": None}
        output |= {"annotations_count": len(run.annotations), "annotations_url": f"{url}/annotations"}
        app = next((app for app in self.world.apps.values() if app.id == run.app), None)
        return {
            "id": run.id,
            "node_id": f"CR_{run.id}",
            "head_sha": run.sha,
            "name": run.name,
            "external_id": run.external_id,
            "url": url,
            "html_url": f"{self.pages}/{where.full_name}/runs/{run.id}",
            "details_url": self.pages,
            "status": run.status,
            "conclusion": run.conclusion,
            "started_at": at,
            "completed_at": at if run.conclusion else None,
            "check_suite": {"id": 1},
            "output": output,
            "app": None if app is None else self.app(app),
            "pull_requests": [],
        }

    def status(self, where: Repository, status: CommitStatus) -> Shown:
        return {
            "id": status.id,
            "node_id": f"SC_{status.id}",
            "url": f"{self.repository_url(where)}/statuses/{status.sha}",
            "avatar_url": None,
            "state": status.state,
            "description": status.description,
            "target_url": None,
            "context": status.context,
            "created_at": stamp(status.at),
            "updated_at": stamp(status.at),
            "creator": self.account(status.by),
        }

    def permission(self, who: Account, role: Role) -> Shown:
        word = "write" if role >= Role.WRITE else "read" if role > Role.NONE else "none"
        user = self.account(who) | {"role_name": word, "permissions": self.permissions(role)}
        return {"permission": word, "role_name": word, "user": user}

    def reactions(self, url: str) -> Shown:
        counts: Shown = dict.fromkeys(_REACTIONS, 0)
        return counts | {"url": f"{url}/reactions"}

    def association(self, where: Repository, who: Account) -> str:
        if who.login == where.owner:
            return "OWNER"
        return "COLLABORATOR" if where.role_of(who.login) > Role.NONE else "NONE"

    def comment(self, where: Repository, issue: Issue, comment: Comment) -> Shown:
        url = f"{self.repository_url(where)}/issues/comments/{comment.id}"
        return {
            "id": comment.id,
            "node_id": f"IC_{comment.id}",
            "url": url,
            "html_url": f"{self.issue_page(where, issue)}#issuecomment-{comment.id}",
            "issue_url": f"{self.repository_url(where)}/issues/{issue.number}",
            "body": comment.body,
            "user": self.account(comment.author),
            "created_at": stamp(comment.created),
            "updated_at": stamp(comment.updated),
            "author_association": self.association(where, comment.author),
            "performed_via_github_app": None,
            "reactions": self.reactions(url),
        }

    def label(self, where: Repository, label: Label) -> Shown:
        return {
            "id": label.id,
            "node_id": f"LA_{label.id}",
            "url": f"{self.repository_url(where)}/labels/{label.name.replace(' ', '%20')}",
            "name": label.name,
            "description": label.description,
            "color": label.color,
            "default": False,
        }

    def app(self, app: App) -> Shown:
        return {
            "id": app.id,
            "slug": app.slug,
            "node_id": f"A_{app.id}",
            "owner": self.account(app.account),
            "name": app.slug,
            "description": None,
            "external_url": self.pages,
            "html_url": f"{self.pages}/apps/{app.slug}",
            "created_at": stamp(0),
            "updated_at": stamp(0),
            "permissions": {"issues": "write", "metadata": "read"},
            "events": [],
        }

    def installation(self, app: App, where: Repository) -> Shown:
        url = f"{self.base}/app/installations/{app.installation}"
        owner = self.world.account(where.owner)
        return {
            "id": app.installation,
            "account": self.account(owner),
            "repository_selection": "selected",
            "access_tokens_url": f"{url}/access_tokens",
            "repositories_url": f"{self.base}/installation/repositories",
            "html_url": f"{self.pages}/settings/installations/{app.installation}",
            "app_id": app.id,
            "app_slug": app.slug,
            "target_id": owner.id,
            "target_type": "User",
            "permissions": {"issues": "write", "metadata": "read"},
            "events": [],
            "single_file_name": None,
            "created_at": stamp(0),
            "updated_at": stamp(0),
            "suspended_by": None,
            "suspended_at": None,
        }
