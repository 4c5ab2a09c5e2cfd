"""People and bots at the fake GitHub, who act as they like: with the web page, not with the API."""

from __future__ import annotations

from agent_fox.core.values import dataclass
from agent_fox.testing.github.state import Account, Comment, Issue, Pull, Repository, World


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with every right in a repository. Numbers are those of its issues."""

    world: World
    repository: Repository
    account: Account

    def opens(self, title: str, body: str = "", labels: tuple[str, ...] = ()) -> Issue:
        return self.world.write_issue(self.repository, self.account, title, body, labels)

    def opens_pull(self, title: str, body: str = "", head: str = "topic", base: str = "main") -> Issue:
        made = self.world.write_issue(self.repository, self.account, title, body, is_pull=True)
        made.pull = Pull(head, base, self.repository.branches.get(head, "0" * 40))
        return made

    def pushes(self, branch: str, sha: str) -> None:
        self.repository.branches[branch] = sha
        self.repository.commits.append(sha)

    def merges(self, number: int) -> None:
        pull = self._issue(number).pull
        assert pull is not None
        pull.merged = self.world.clock()
        self.world.set_state(self._issue(number), self.account, "closed", None)

    def starts_discussion(self) -> int:
        """A number is spent on something that is no issue."""
        return self.repository.next_number()

    def comments(self, number: int, body: str) -> Comment:
        return self.world.write_comment(self._issue(number), self.account, body)

    def closes(self, number: int, reason: str = "completed") -> None:
        self.world.set_state(self._issue(number), self.account, "closed", reason)

    def reopens(self, number: int) -> None:
        self.world.set_state(self._issue(number), self.account, "open", None)

    def edits(self, number: int, body: str, title: str | None = None) -> None:
        issue = self._issue(number)
        issue.change(self.world.clock(), body=body, title=issue.face.title if title is None else title)

    def removes_marker(self, number: int) -> None:
        """Takes the first line out of the body, and the rest of it stays."""
        self.edits(number, (self._issue(number).face.body or "").partition("\n")[2])

    def edits_comment(self, number: int, id: int, body: str) -> None:
        comment = next(each for each in self._issue(number).comments if each.id == id)
        comment.body, comment.updated = body, self.world.clock()

    def deletes_comment(self, number: int, id: int) -> None:
        issue = self._issue(number)
        issue.comments = [each for each in issue.comments if each.id != id]

    def locks(self, number: int, reason: str | None = None) -> None:
        self._issue(number).change(self.world.clock(), is_locked=True, lock_reason=reason)

    def unlocks(self, number: int) -> None:
        self._issue(number).change(self.world.clock(), is_locked=False, lock_reason=None)

    def deletes(self, number: int) -> None:
        del self.repository.issues[number]
        self.repository.deleted.add(number)

    def transfers(self, number: int, to: Repository) -> Issue:
        """The issue gets a number there, and keeps what was written; its old address leads on."""
        issue = self.repository.issues.pop(number)
        issue.number = to.next_number()
        to.issues[issue.number] = issue
        self.repository.moved[number] = (to.id, issue.number)
        return issue

    def _issue(self, number: int) -> Issue:
        return self.repository.issues[number]
