"""How the fake GitHub writes what it remembers as JSON, every member that its description demands. Decides nothing."""

from __future__ import annotations

from pydantic import JsonValue

from agent_fox.core.values import dataclass
from agent_fox.testing.github.state import Account, App, Comment, Face, Issue, Label, Repository, Role, World, stamp

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
            "default_branch": "main",
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
            "assignee": None,
            "assignees": [],
            "milestone": None,
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
        return {"pull_request": links, "draft": False}

    def reactions(self, url: str) -> Shown:
        counts: Shown = dict.fromkeys(_REACTIONS, 0)
        return counts | {"url": f"{url}/reactions"}

    def association(self, where: Repository, who: Account) -> str:
        return "OWNER" if who.login == where.owner else "NONE"

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
