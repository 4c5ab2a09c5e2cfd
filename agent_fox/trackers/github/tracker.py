"""Issues on GitHub: each cause is filed once, and what is said of it later goes to the same issue.

What is done follows from how the issue stands and what is to be said (`core.filing`). Finding is in `search`, writing
in `scribe`; here is only the order of things.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace
from typing import TYPE_CHECKING, assert_never

from agent_fox.core.regex import regex
from agent_fox.core.retry.filing import Act, Says, Seen, act
from agent_fox.core.values import dataclass
from agent_fox.system import clock
from agent_fox.trackers.desk import Desk, LeaseLost, TooSoon
from agent_fox.trackers.github import marker, reading
from agent_fox.trackers.github.door import Absent, Door, DoorTrouble, RemoteIssue
from agent_fox.trackers.github.scribe import Scribe, Talk, issue_note
from agent_fox.trackers.github.search import EMPTY_READINGS, Search, Waits
from agent_fox.trackers.github.sweep import Sweep
from agent_fox.trackers.github.work import checks, pulls
from agent_fox.trackers.github.work.commands import Reader
from agent_fox.trackers.github.work.extras import Extras, Given
from agent_fox.trackers.protocol import (
    Delivery,
    Done,
    Effect,
    EffectKind,
    Held,
    Moot,
    Remote,
    Retry,
    StateReason,
    Unsure,
)
from agent_fox.trackers.upkeep import Commands, PersonsIssue

if TYPE_CHECKING:
    from agent_fox.config import TrackerSettings
    from agent_fox.trackers.text.pages import Written
    from agent_fox.trackers.upkeep import Known, Seeing, Trouble

MINUTE = 60.0
UNPROCESSED = 422
LEFT_OPEN = "This is left open, since a person has written here or opened it again: please close it if it is done.\n\n"

_TARGET = regex(r"(?:(?P<repository>[^/\s#]+/[^/\s#]+))?#(?P<number>[1-9][0-9]{0,17})")


@dataclass(frozen=True, slots=True)
class Standing:
    """The issue that an effect is about, how it stands, and what is to be done. `previous`: an issue that is past."""

    sight: Seen
    act: Act
    talk: Talk | None = None
    is_own: bool = False
    has_said: bool = False
    previous: int = 0


@dataclass(frozen=True)
class GitHubTracker:
    """The tracker of one repository. `write` makes the text of an effect; nothing is delivered without a desk."""

    door: Door
    settings: TrackerSettings
    key: bytes = field(repr=False)
    write: Callable[[Effect], Written]
    now: Callable[[], str] = clock.now
    desk: Desk | None = None
    extras: Extras | None = None
    name: str = "github"
    _seats: list[GitHubTracker] = field(default_factory=list, repr=False, compare=False)

    @property
    def place(self) -> str:
        return self.door.address.place

    def at(self, desk: Desk) -> GitHubTracker:
        """The same tracker with this desk; once made it is kept, with what its door has learned."""
        if not self._seats or self._seats[0].desk is not desk:
            door = replace(self.door, before_write=desk.write)
            self._seats[:] = [replace(self, door=door, desk=desk, now=desk.now, _seats=[])]
        return self._seats[0]

    def newest(self) -> str:
        """An empty list is asked for again where no number is known yet: it may be empty by mistake."""
        try:
            known = 0 if self.desk is None else self.desk.newest()
            readings = (self.door.newest() for _ in range(1 if known else EMPTY_READINGS))
            return str(max(known, next((number for number in readings if number), 0)))
        except DoorTrouble:
            return ""  # delivering will say why

    def deliver(self, effect: Effect) -> Delivery:
        return self._safely(lambda delivery: delivery.deliver(effect))

    def adopt(self, number: int, fingerprint: str) -> Delivery:
        """Take an issue that is there as the one of a cause: it is commented once, and known from now on."""
        return self._safely(lambda delivery: delivery.adopt(number, fingerprint))

    def look(self, known: Iterable[Known]) -> Seeing:
        return self._sweep().look(known)

    def sweep(self) -> Seeing:
        return self._sweep().sweep()

    def read_issue(self, number: int) -> PersonsIssue | Trouble:
        """A person's issue, for a spec to be made from it."""
        try:
            issue = self.door.issue(number)
        except DoorTrouble as trouble:
            return trouble.delivery
        remedy = "name the number of an issue that a person wrote here"
        if isinstance(issue, Absent) or issue.is_pull:
            what = issue.value if isinstance(issue, Absent) else "a pull request"
            return Held(f"#{number} is {what}", remedy)
        if marker.read(issue.body, self.key) is not None:
            return Held(f"#{number} was filed by agent-fox itself", remedy)
        source = f"{issue.repository}#{issue.number}"
        return PersonsIssue(issue.number, issue.title, issue.body, issue.creator, source)

    def commands(self, known: Iterable[Known]) -> Commands:
        """New commands of people in comments; none where the settings switch them off."""
        who = self.extras.settings.commands if self.extras else "off"
        if who == "off" or self.desk is None:
            return Commands()
        if not self.desk.hold():
            return Commands(trouble=Retry(f"another process delivers to {self.place}", is_general=True))
        return Reader(self._delivering(self.desk).scribe, who).read(known)

    def _sweep(self) -> Sweep:
        if self.desk is None:
            return Sweep(None, _no_desk(), self.settings.reopen_days)
        if not self.desk.hold():
            lost = Retry(f"another process delivers to {self.place}", is_general=True)
            return Sweep(None, lost, self.settings.reopen_days)
        return Sweep(self._delivering(self.desk).scribe, None, self.settings.reopen_days)

    def _delivering(self, desk: Desk) -> Delivering:
        former = tuple(self.settings.former_logins)
        search = Search(self.door, desk, self.key, self.settings.grace_minutes * MINUTE, former)
        return Delivering(Scribe(self.door, desk, self.key, search), self.settings, self.write, self.extras)

    def _safely(self, deliver: Callable[[Delivering], Delivery]) -> Delivery:
        if self.desk is None:
            return _no_desk()
        try:
            if not self.desk.hold():
                raise LeaseLost(f"another process delivers to {self.place}")
            return deliver(self._delivering(self.desk))
        except DoorTrouble as trouble:
            return trouble.delivery
        except LeaseLost as lost:
            return Retry(str(lost), is_general=True)
        except TooSoon as early:
            return Retry(str(early), early.until, is_general=True)


def _no_desk() -> Trouble:
    return Retry("this tracker delivers only at a desk", is_general=True)


@dataclass(frozen=True)
class Delivering:
    """One effect's way to GitHub. Raises DoorTrouble, LeaseLost and TooSoon, at any step: all may be done again."""

    scribe: Scribe
    settings: TrackerSettings
    write: Callable[[Effect], Written]
    extras: Extras | None = None

    @property
    def search(self) -> Search:
        return self.scribe.search

    @property
    def door(self) -> Door:
        return self.scribe.door

    def deliver(self, effect: Effect) -> Delivery:
        kind = effect.target.partition(":")[0]
        if kind == pulls.TARGET:
            return pulls.Pulls(self.scribe, self.write).deliver(effect)
        if kind == checks.TARGET:
            return checks.Checks(self.scribe, self.write).deliver(effect)
        if effect.target:
            return self._remark(effect)
        standing = self._standing(effect)
        if not isinstance(standing, Standing):
            return standing
        if standing.talk is not None:
            self.scribe.remember(effect.fingerprint, standing.talk.number)
        return self._carry_out(effect, standing)

    def adopt(self, number: int, fingerprint: str) -> Delivery:
        issue = self.door.issue(number)
        if isinstance(issue, Absent) or issue.is_pull:
            what = f"is {issue.value}" if isinstance(issue, Absent) else "is a pull request"
            return Held(f"#{number} {what}", "name the number of an issue of this repository")
        mark = marker.read(issue.body, self.scribe.key)
        if mark is not None and mark.fp != fingerprint:
            return Held(f"#{number} is the issue of another cause ({mark.fp})", "name another issue")
        talk = self.scribe.talk(number, issue)
        text = f"agent-fox keeps this issue for the cause `{fingerprint}` from now on: what is found goes here.\n"
        waits = self.scribe.say(talk, fingerprint, {f"adopt-{number}": text})
        if waits is not None:
            return waits
        self.scribe.remember(fingerprint, number)
        sight = reading.seen(issue, None, False, self.scribe.desk.now(), self.settings.reopen_days)
        return Done(str(number), issue.url, reading.as_found(sight, None))

    def _remark(self, effect: Effect) -> Delivery:
        """A comment on a person's issue, and nothing else."""
        number = self._number_of(effect.target)
        if number is None:
            return Moot(f"{effect.target} is no issue of {self.door.repository}")
        issue = self.door.issue(number)
        if isinstance(issue, Absent):
            return Moot(f"{effect.target} is {issue.value}")
        if issue.is_locked:
            return Moot(f"the conversation of {effect.target} is locked")
        talk = self.scribe.talk(number, issue)
        return self._say(effect, talk, self.write(effect)) or Done(str(number), issue.url)

    def _number_of(self, target: str) -> int | None:
        """The number of a target in our repository."""
        match = _TARGET.fullmatch(target)
        ours = {None, self.door.repository.lower(), self.door.address.repository.lower()}
        if match is None or (match["repository"] and match["repository"].lower()) not in ours:
            return None
        return int(match["number"])

    def _standing(self, effect: Effect) -> Standing | Waits:
        """The issue of the cause: of the number that is known here, else by its mark."""
        number = self._known_number(effect)
        if not number:
            return self._by_mark(effect, ())
        known = self.search.known(number, effect.remote is Remote.GONE)
        if isinstance(known, Retry):
            return known
        standing = self._stands(effect, number, known)
        return self._by_mark(effect, (number,)) if standing.act is Act.CREATE else standing

    def _known_number(self, effect: Effect) -> int:
        """The number noted at this desk, even if a person has removed the mark. A number from elsewhere, such as that
        of a file or of another repository, counts only if the issue bears the mark of this cause."""
        noted = self.scribe.desk.recall(f"filed {effect.fingerprint}")
        if noted or not (effect.number or "").isdecimal():
            return int(noted or 0)
        issue = self.door.issue(int(effect.number or 0))
        seen = () if isinstance(issue, Absent) else (issue,)
        ours = reading.marked(seen, self.search.creators(), self.scribe.key)
        return int(effect.number or 0) if any(each.marker.fp == effect.fingerprint for each in ours) else 0

    def _by_mark(self, effect: Effect, stale: tuple[int, ...]) -> Standing | Waits:
        """Look among ours until one is found that can be written to, or none is left."""
        op = issue_note(effect.id) if effect.says is Says.FAILING else ""
        while True:
            chosen = self.search.cause(effect, stale, op)
            if isinstance(chosen, Retry | Unsure):
                return chosen
            if chosen is None:
                return Standing(Seen.NEVER, act(Seen.NEVER, effect.says), previous=max(stale, default=0))
            standing = self._stands(effect, chosen.number, chosen)
            if standing.act is not Act.CREATE:
                return standing
            stale = (*stale, chosen.number)

    def _stands(self, effect: Effect, number: int, found: RemoteIssue | Absent) -> Standing:
        now, days, left = self.scribe.desk.now(), self.settings.reopen_days, effect.remote
        if isinstance(found, Absent) or found.is_pull:
            sight = reading.seen(found, left, False, now, days)
            return Standing(sight, act(sight, effect.says))
        talk = self.scribe.talk(number, found)
        kept = reading.kept_instead(talk.comments, effect.fingerprint, self.scribe.key)
        if kept is not None and kept < number and found.state == "closed":
            return self._stands(effect, kept, self.door.issue(kept))
        has_spoken = reading.has_person_spoken(talk.comments, effect.slot or effect.id, self.scribe.key)
        is_withdrawn = self.scribe.is_withdrawn(effect.fingerprint, number, found.state)
        sight = reading.seen(found, left, has_spoken, now, days, is_withdrawn)
        is_own = self._is_made_by(effect, number, found)
        has_said = effect.id in reading.ops_in(talk.comments, effect.fingerprint, self.scribe.key)
        return Standing(sight, Act.NOTHING if is_own or has_said else act(sight, effect.says), talk, is_own, has_said)

    def _is_made_by(self, effect: Effect, number: int, issue: RemoteIssue) -> bool:
        mark = marker.read(issue.body, self.scribe.key)
        is_noted = self.scribe.journal.stands(issue_note(effect.id)) == number
        return is_noted or mark == marker.Marker(effect.fingerprint, effect.id)

    def _carry_out(self, effect: Effect, standing: Standing) -> Delivery:
        talk = standing.talk
        if talk is None:
            return self._create(effect, standing) if standing.act is Act.CREATE else _nothing(standing, effect)
        if standing.is_own:
            return self._completed(effect, talk, _as(effect, EffectKind.FILE), standing.sight)
        if standing.has_said:
            return self._resaid(effect, talk, standing.sight)
        match standing.act:
            case Act.COMMENT:
                return self._comment(effect, talk, standing.sight)
            case Act.REOPEN:
                self.door.set_state(talk.number, "open", "reopened")
                return self._comment(effect, talk, standing.sight)
            case Act.CLOSE:
                waits = None if talk.is_whole else self.search.lagging(effect)
                page = self.write(effect)
                return waits or self._say(effect, talk, page) or self._left(effect, talk, page, standing.sight)
            case Act.NOTHING | Act.CREATE:
                return _nothing(standing, effect)
            case _:
                assert_never(standing.act)

    def _create(self, effect: Effect, standing: Standing) -> Delivery:
        if not effect.before.isdecimal():
            return Retry("the newest number could not be told, so nothing is filed yet")
        filing = _as(effect, EffectKind.FILE)
        page = self.write(filing)
        given = self.extras.of(effect, self.door) if self.extras else Given()
        previous, labels = standing.previous, self.settings.labels
        try:
            issue = self.scribe.create(filing, page, labels, previous, given.members)
        except DoorTrouble as trouble:
            if trouble.status != UNPROCESSED or not given.members:
                raise
            lacks = f"GitHub takes none of {', '.join(given.members)}: {trouble.delivery.reason}"
            given = Given(lacks=(*given.lacks, lacks))
            issue = self.scribe.create(filing, page, labels, previous)
        done = self._completed(effect, Talk(issue.number, issue, ()), filing, Seen.OPEN)
        return _with_lacks(done, given, issue)

    def _completed(self, effect: Effect, talk: Talk, filing: Effect, sight: Seen) -> Delivery:
        """The issue of this effect is there; the rest of it follows."""
        note, waits = self.scribe.complete(talk, filing, self.write(filing).more)
        remote = Remote.OPEN if sight is Seen.SPOKEN else reading.as_found(sight, effect.remote)
        return waits or Done(str(talk.number), talk.issue.url, remote, note)

    def _resaid(self, effect: Effect, talk: Talk, sight: Seen) -> Delivery:
        """It was said before, and what came of that was not noted: what is missing yet is done."""
        page = self.write(_as(effect, EffectKind.COMMENT))
        waits = self._say(effect, talk, page)
        if waits is not None:
            return waits
        if talk.issue.state == "open":
            return self._left(effect, talk, page, sight)
        is_refused = sight is Seen.REFUSED or effect.says is not Says.PROOF
        return Done(
            str(talk.number), talk.issue.url, reading.as_found(sight, effect.remote) if is_refused else Remote.CLOSED
        )

    def _comment(self, effect: Effect, talk: Talk, sight: Seen) -> Delivery:
        page = self.write(_as(effect, EffectKind.COMMENT))
        if sight is Seen.SPOKEN and effect.says is Says.PROOF:
            page = replace(page, body=f"{LEFT_OPEN}{page.body}")
        return self._say(effect, talk, page) or self._left(effect, talk, page, sight)

    def _left(self, effect: Effect, talk: Talk, page: Written, sight: Seen) -> Delivery:
        """All is said of an open issue: its title and block say so, too, and it is closed where the table says so."""
        current = self.scribe.current(talk, effect.fingerprint, page)
        texts = {"title": current.title, "body": current.body}
        changes = {name: text for name, text in texts.items() if text is not None}
        if act(sight, effect.says) is Act.CLOSE:
            if effect.state_reason is StateReason.NOT_PLANNED:
                self.scribe.withdraw(effect.fingerprint, talk.number)
            note = self._written(talk.number, changes, ("closed", effect.state_reason or StateReason.COMPLETED))
        else:
            note = self._written(talk.number, changes)
        remote = reading.after(sight, effect.says, effect.remote)
        kept = "left open: a person has spoken there" if remote is Remote.KEPT else ""
        notes = filter(None, (kept, note, self.scribe.edits_told(talk, current.edited)))
        return Done(str(talk.number), talk.issue.url, remote, "; ".join(notes))

    def _written(self, number: int, changes: dict[str, str], state: tuple[str, str] | None = None) -> str:
        """Write title, block and state. Gives why title and block could not be written: that holds nothing else up."""
        try:
            if state:
                self.door.set_state(number, *state, changes)
            elif changes:
                self.door.edit_issue(number, changes)
        except DoorTrouble as trouble:
            match trouble.delivery:
                case Held(reason) if changes:
                    if state:
                        self.door.set_state(number, *state)
                    return f"its title and block stay as they were: {reason}"
            raise
        return ""

    def _say(self, effect: Effect, talk: Talk, page: Written) -> Waits | None:
        op = effect.slot or effect.id
        texts = {op if place == 1 else f"{op}/{place}": text for place, text in enumerate((page.body, *page.more), 1)}
        return self.scribe.say(talk, effect.fingerprint, texts, bool(effect.slot))


def _with_lacks(delivery: Delivery, given: Given, issue: RemoteIssue) -> Delivery:
    """The same, with what the issue was filed without."""
    is_dropped = bool(given.members.get("assignees")) and not issue.assignees
    dropped = ("GitHub assigned nobody: the token may not push",) if is_dropped else ()
    if not isinstance(delivery, Done):
        return delivery
    return replace(delivery, note="; ".join(filter(None, (delivery.note, *given.lacks, *dropped))))


def _as(effect: Effect, kind: EffectKind) -> Effect:
    """The effect as it is to be written: a filing where an issue is made, none where there is one already."""
    if (effect.kind is EffectKind.FILE) == (kind is EffectKind.FILE):
        return effect
    return replace(effect, kind=kind)


def _nothing(standing: Standing, effect: Effect) -> Moot:
    return Moot(_why(standing.sight), reading.as_found(standing.sight, effect.remote))


def _why(sight: Seen) -> str:
    match sight:
        case Seen.NEVER:
            return "there is no issue to say it in"
        case Seen.REFUSED:
            return "a person has closed the issue as not planned"
        case _:
            return f"the issue is {sight.value}"
