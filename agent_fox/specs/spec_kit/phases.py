"""tasks.md cut into phases and tasks: which lines are tasks, and under which heading. Ids are not read here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

from agent_fox.specs.collected import Remarks
from agent_fox.specs.common.task_lists import Draft
from agent_fox.specs.document import Markdown
from agent_fox.specs.lines import Chain, Heading, Line, listed, plain, with_headings
from agent_fox.specs.outline import Table
from agent_fox.specs.spec_kit.identifiers import stories_in_label
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_BELOW_HEADINGS, _LONGEST_NAME = 7, 160
_TEXT_HEADINGS = (
    "description", "task", "title", "what", "任务", "任務", "描述", "タスク", "内容", "작업", "설명", "aufgabe",
    "задача", "descripción", "descrição", "tarea", "tarefa", "description", "tâche", "beschreibung", "описание",
)  # fmt: skip
_STATE = ("status", "state", "done", "estado", "状态", "狀態", "状態", "상태", "statut", "статус")
_SAYS_STATE = {"x": _LIKE["says_done"], "-": _LIKE["says_begun"], "~": _LIKE["says_skipped"]}
_FIRST_CELLS = 3


class Phases(Remarks):
    """The phases of a tasks file that have tasks, as `drafts`, and what is not planned as it is written.

    Tasks are boxes; where no box has a `T` number, what else begins with one: headings or plain items, else bold words
    on a line of their own, else rows of tables. A phase's name in bold, or as a box of its own, is a heading too. Tasks
    before any heading are a phase in line 0.
    """

    def __init__(self, markdown: Markdown) -> None:
        super().__init__(markdown)
        headed = ((line, _heading(line)) for line in markdown.lines)
        lines = (line if heading is line.heading else line._replace(heading=heading) for line, heading in headed)
        self.placed = list(with_headings(lines))
        tasks = boxes = self._tasks(_boxed)
        has_numbers = any(task.number.startswith("T") for task in boxes)
        if not has_numbers:
            tasks = self._tasks(_unboxed)
            if all(task.is_aside for task in tasks):
                tasks = self._tasks(_bold) or self._in_rows() or tasks
            tasks = tasks or boxes
        self._warn_of_unread(tasks)
        self.drafts = self._phased(self._kept(tasks, has_numbers))

    def _tasks(self, task_at: Callable[[Chain, Line], Draft | None]) -> list[Draft]:
        """Every task, with its lines. Without a number, a step of another one is none, nor is a check below a label."""
        tasks: list[Draft] = []
        current: Draft | None = None
        is_check = False
        for chain, line in self.placed:
            task = None if line.is_code else task_at(chain, line)
            if line.heading is not None:
                title = line.heading.title
                current, is_check = None, _LIKE["checks"].match(title) is not None and not _LIKE["phase"].match(title)
            is_step = task is not None and current is not None and task.indent > current.indent + 1
            if task is not None and (task.number or not (is_step or is_check)):
                current, is_check = task, is_check and not task.number
                tasks.append(task)
            elif line.heading is None:
                bold = _LIKE["bold_line"].match(line.text.strip()) if line.indent < 2 and not line.is_code else None
                is_check = is_check if bold is None else _LIKE["checks"].match(bold["text"]) is not None
                if current is not None and not (line.indent > current.indent or line.is_code or line.is_blank):
                    after_gap = bool(current.lines) and current.lines[-1].is_blank
                    goes_on = not after_gap and _LIKE["phases_bullet"].match(line.text.strip()) is None
                    current = current if goes_on else None
                if current is not None:
                    current.lines.append(line)
        return tasks

    def _in_rows(self) -> list[Draft]:
        """Tasks that are rows of tables with a column that says what is to be done, each number once:
        `| T001 | [P] | Make it | T000 | done |`. Labels of other cells stand before the title, others below it."""
        lines = {line.number: (chain, line) for chain, line in self.placed}
        drafts: dict[str, Draft] = {}
        for table, row in ((each, row) for each in self.markdown.tables for row in each.rows):
            cells = [plain(cell) for cell in row.cells]
            numbers = (place for place, cell in enumerate(cells[:_FIRST_CELLS]) if _LIKE["is_number"].fullmatch(cell))
            own = next(numbers, None)
            column, state = _column(table, _TEXT_HEADINGS, own), _column(table, _STATE, own)
            if own is None or column is None or not row.cell(column):
                continue
            (chain, line), labels, others = lines[row.line], "", []
            for place, cell in enumerate(row.cells):
                if place in (own, column, state) or not cell.strip("-–— "):
                    continue
                if cells[place] == "P" or tuple(stories_in_label(cells[place])):
                    labels += f"[{cells[place]}] "
                else:
                    others.append(f"{table.header[place]}: {cell}" if place < len(table.header) else cell)
            box = next((box for box, words in _SAYS_STATE.items() if words.match(row.cell(state))), "")
            task = _task(cells[own], f" {labels}{row.cell(column)}", line, chain, box)
            task.lines = [Line(row.line, f"- {other}", line.indent + 2) for other in others]
            if task.number not in drafts or (drafts[task.number].is_aside and not task.is_aside):
                drafts[task.number] = task
        return sorted(drafts.values(), key=lambda task: task.line)

    def _warn_of_unread(self, tasks: list[Draft]) -> None:
        """Headings and items of phases that begin with a `T` number, or with a range, which no task has: they are
        written in another way than the rest."""
        known = {task.number for task in tasks}
        within = {line.number for task in tasks for line in task.lines}
        unread: dict[int, str] = {}
        for chain, line in self.placed:
            text = _listed_text(line) if not line.is_code and line.number not in within else ""
            match = _LIKE["begins"].match(text) if "T" in text else None
            if match is not None and match["number"] not in known and _is_in_phase(chain) and not _is_aside(chain):
                unread[line.number] = match["number"]
        if unread:
            first = min(unread)
            what = f"{unread[first]} and such are written in another way than other tasks here: {listed(unread)}"
            self.warn(first, f"{what}. Not planned; write tasks with boxes (`- [ ] T001 ...`), one a line")

    def _kept(self, tasks: list[Draft], has_numbers: bool) -> Iterator[Draft]:
        """The tasks that are planned; not those that stand aside: numbered ones that stand nowhere else, and boxes
        without a number where no task with one is near."""
        _take_in_what_goes_on(tasks)
        seen = {task.number for task in tasks if not task.is_aside}
        near = {number for task in tasks if task.number for number, heading in task.chain if heading.level > 1}
        unnumbered: list[int] = []
        for task in tasks:
            is_in_phase = _is_in_phase(task.chain)
            is_new = bool(task.number) and task.number not in seen
            ranked = {number for number, heading in task.chain if heading.level > 1}
            is_lost = is_new and has_numbers
            if not task.is_aside or (is_in_phase and is_new):
                is_lost = not (task.number or is_in_phase or not has_numbers or not ranked or near & ranked)
                yield from () if is_lost else [task]
            if is_lost and task.number:
                what = "stands in no phase: not planned. Move it below the phase it belongs to"
                self.warn(task.line, f"{task.number} {what}")
            elif is_lost:
                unnumbered.append(task.line)
        if unnumbered:
            where, what = listed(unnumbered), "Not planned; number those that are tasks"
            self.warn(unnumbered[0], f"boxes without a number, in no phase: {where}. {what}")

    def _phased(self, tasks: Iterator[Draft]) -> list[Draft]:
        """The phases, and a word about those that are empty. Their rank is that of headings that say so, else of the
        first that part the tasks."""
        kept = list(tasks)
        ranks: dict[int, set[int]] = {}
        for number, heading in (step for task in kept for step in task.chain):
            if heading.level > 1 and not _LIKE["numbered"].match(heading.title):
                ranks.setdefault(heading.level, set()).add(number)
        named = [heading.level for task in kept for _, heading in task.chain if _LIKE["phase"].match(heading.title)]
        parting = [level for level, headings in ranks.items() if len(headings) > 1]
        level = min(named or parting or ranks or [2])
        phases: dict[int, Draft] = {}
        for task in kept:
            number, title = _phase(task.chain, level)
            phases.setdefault(number, Draft("", title, number)).tasks.append(task)
        used = {number for task in kept for number, _ in task.chain} | phases.keys()
        for chain, under in groupby(self.placed, lambda found: found[0]):
            phase = phases.get(_phase(chain, level)[0])
            if phase is not None and phase.line:
                phase.lines += [line for _, line in under]
            is_phase = bool(chain) and _LIKE["phase"].match(chain[-1][1].title) is not None
            if is_phase and chain[-1][0] not in used and not _is_aside(chain):
                what = "has no tasks: not planned. Write tasks with boxes (`- [ ] T001 ...`)"
                self.warn(chain[-1][0], f"{chain[-1][1].title!r} {what}")
        return [phases[number] for number in sorted(phases)]


def _heading(line: Line) -> Heading | None:
    """A task's heading may have the rank of its phase's; it stands below that all the same."""
    if line.heading is not None:
        is_task = _LIKE["t_number"].match(line.heading.title) is not None
        return Heading(_BELOW_HEADINGS + 1, line.heading.title) if is_task else line.heading
    text = line.text.strip()
    if line.is_code or text[:1] not in ("*", "_", "-", "+"):
        return None
    box = _LIKE["box"].match(text)
    rest = box["rest"] if box else text
    bold = _LIKE["bold_line"].match(rest)
    name = bold["text"] + bold["after"] if bold else rest
    may_be = bool(box) or (bold is not None and line.indent == 0)
    is_phase = may_be and len(name) < _LONGEST_NAME and _LIKE["phase"].match(name) is not None
    return Heading(_BELOW_HEADINGS, name) if is_phase else None


def _boxed(chain: Chain, line: Line) -> Draft | None:
    box = _LIKE["box"].match(line.text.strip()) if "[" in line.text and line.heading is None else None
    if box is None:
        return None
    match = _LIKE["numbered"].match(box["rest"])
    number, rest = (match["number"], match["rest"]) if match else ("", _LIKE["no_number"].sub("", box["rest"], count=1))
    task = _task(number, rest, line, chain, box["box"].strip())
    task.is_optional, task.is_struck = box["star"] is not None, box["rest"].lstrip("* ").startswith("~~")
    return task


def _unboxed(chain: Chain, line: Line) -> Draft | None:
    """A heading or a plain list item that begins with a `T` number."""
    text = _listed_text(line)
    match = _LIKE["t_number"].match(text) if text else None
    box = "x" if line.heading and ("✅" in text or "[x]" in text.lower()) else ""
    at = line._replace(indent=-1) if line.heading else line
    return _task(match["number"], match["rest"].lstrip(":. "), at, chain, box) if match else None


def _bold(chain: Chain, line: Line) -> Draft | None:
    """A line such as `**T001** [P] Make it`, with all that stands below it."""
    is_bold = line.text.startswith(("**T", "__T")) and line.heading is None
    match = _LIKE["t_number"].match(line.text) if is_bold and not _is_aside(chain) else None
    return Draft(match["number"], match["rest"], line.number, "", -1, chain=chain) if match else None


def _task(number: str, title: str, line: Line, chain: Chain, box: str) -> Draft:
    return Draft(number, title, line.number, box, line.indent, chain=chain, is_aside=_is_aside(chain))


def _column(table: Table, words: tuple[str, ...], own: int | None) -> int | None:
    """The column whose header holds the first of the words that any holds, but that of the number."""
    names = [(place, name.split()) for place, name in enumerate(table.header) if place != own]
    return next((place for word in words for place, name in names if word in name), None)


def _listed_text(line: Line) -> str:
    bullet = _LIKE["phases_bullet"].match(line.text.strip()) if line.heading is None else None
    return line.heading.title if line.heading else bullet["rest"] if bullet else ""


def box_of(line: Line) -> str | None:
    """What stands in the box of a list item; None where it has none."""
    box = _LIKE["box"].match(line.text.strip()) if not line.is_code else None
    return box["box"].strip() if box else None


def _is_in_phase(chain: Chain) -> bool:
    return any(_LIKE["phase"].match(heading.title) for _, heading in chain)


def _is_aside(chain: Chain) -> bool:
    """Whether a heading says that samples or words about tasks stand below it; a phase's name never does."""
    titles = (heading.title for _, heading in chain if heading.level > 1)
    return any(_LIKE["tasks_aside"].match(title[:200]) and not _LIKE["phase"].match(title) for title in titles)


def _take_in_what_goes_on(tasks: list[Draft]) -> None:
    """Tasks below a heading such as *Example gallery* whose numbers go on with those before: it is about tasks."""
    numbered = ((task, _LIKE["digits"].findall(task.number)) for task in tasks if task.number.startswith("T"))
    counted = [(task, int(digits[-1])) for task, digits in numbered if digits]
    known = {number for task, number in counted if not task.is_aside}
    highest = 0
    for _, under in groupby(counted, lambda each: each[0].chain):
        here = list(under)
        goes_on = here[0][1] == highest + 1 and not known & {number for _, number in here}
        if not here[0][0].is_aside or goes_on:
            highest = max(highest, *(number for _, number in here))
            for task, _ in here:
                task.is_aside = False


def _phase(chain: Chain, level: int) -> tuple[int, str]:
    """The heading that makes a task's phase; nothing for those before any."""
    named = [step for step in chain if _LIKE["phase"].match(step[1].title)]
    ranked = [step for step in chain if 1 < step[1].level <= level]
    number, heading = named[0] if named else ranked[-1] if ranked else (0, Heading(0, ""))
    return number, heading.title
