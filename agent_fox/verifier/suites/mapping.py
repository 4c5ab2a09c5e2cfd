"""Which tests show which requirement: claims of the traceability table, ids in names and prose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.sources import Naming, Source
from agent_fox.verifier.suites.counted_ids import COUNTED, CountedIds, NamedTest

if TYPE_CHECKING:
    from agent_fox.core.spec import Trace
    from agent_fox.verifier.ground.cases import Case
    from agent_fox.verifier.ground.order import CheckOrder

_BETWEEN_CLAIMS = regex(r"[,;]\s*(?![^\[]*\])|<br\s*/?>|\s+and\s+")
_CODE = regex(r"`([^`]+)`")
_PATH = regex(r"^(?:[\w.*+-]+/)*[\w.*+-]*\.[A-Za-z]{1,5}$|^(?:[\w.*+-]+/)+$|^(?=.*test)(?:[\w.*+-]+/)+[\w.*+-]+$")
_TITLED = regex(r"\.[cm]?[jt]sx?$")  # files whose tests are named by titles
_JAVA_CLASS = regex(r"^(?:[a-z]\w*\.)+[A-Z]\w*$")
_BETWEEN_TITLES = " > "
_NAME = regex(r"^[A-Za-z_*][\w*]*(?:\[.*\])?(?:\(\))?$")


@dataclass(frozen=True, slots=True)
class Claim:
    """A test that the traceability table names: a file or folder (empty: any), then its places inside."""

    text: str
    path: str
    names: tuple[str, ...]

    def names_case(self, case: Case) -> bool:
        return self._is_in(case) and _ends_with((*case.classes, case.function), case.name, self.names)

    def names_file(self, path: str) -> bool:
        """Whether the claim is about this file."""
        return bool(self.path) and _path_ends_with(path, self.path)

    def _is_in(self, case: Case) -> bool:
        if not self.path:
            return True
        if case.file:
            return _path_ends_with(case.file, self.path)
        package, wanted = "/".join(case.classes), re.sub(r"\.\w+$", "", self.path)
        return bool(package) and (_path_ends_with(package, wanted) or _path_ends_with(wanted, package))


@dataclass(frozen=True, slots=True)
class Mapped:
    """What shows one requirement: what each claim found, and the tests that name it themselves.

    `of_parent` are tests of the requirement as a whole: their failure counts against each of its criteria,
    their passing for none. `odd` are claims that name no test at all ("reviewed by hand").
    """

    claims: tuple[tuple[Claim, tuple[Case, ...]], ...] = ()
    named: tuple[Case, ...] = ()
    of_parent: tuple[Case, ...] = ()
    odd: tuple[str, ...] = ()

    @property
    def cases(self) -> tuple[Case, ...]:
        claimed = (case for _, cases in self.claims for case in cases)
        return tuple(dict.fromkeys((*claimed, *self.named)))

    @property
    def absent(self) -> tuple[Claim, ...]:
        return tuple(claim for claim, cases in self.claims if not cases)


def read_claims(cells: Iterable[str]) -> tuple[tuple[Claim, ...], tuple[str, ...]]:
    """The claims in the cells of a table's test column, and the words there that name no test."""
    claims: list[Claim] = []
    odd: list[str] = []
    for word in (word for cell in cells for word in _words(cell)):
        claim = _claim(word)
        if claim is None:
            odd.append(word)
        else:
            claims.append(claim)
    return tuple(dict.fromkeys(claims)), tuple(odd)


def _words(cell: str) -> list[str]:
    """The references of a cell: what stands in backticks, or everything where nothing does."""
    codes = _CODE.findall(cell) or [cell]
    parts = [part for code in codes for part in ([code] if _BETWEEN_TITLES in code else _BETWEEN_CLAIMS.split(code))]
    words = (part.strip("` ").removeprefix("**").removesuffix("**").removesuffix("()") for part in parts)
    return [word for word in words if re.search(r"\w", word)]


def _claim(word: str) -> Claim | None:
    head, *rest = _parts(word)
    is_path = bool(_PATH.match(head)) and not _JAVA_CLASS.match(head)
    names = (*(() if is_path else head.split(".") if _JAVA_CLASS.match(head) else (head,)), *rest)
    if is_path and _TITLED.search(head):
        return Claim(word, head, tuple(title.strip(" `'\"") for title in names))
    if not is_path and _BETWEEN_TITLES in word:
        return Claim(word, "", names)
    if not all(_NAME.match(name) for name in names):
        return None
    if not is_path and not re.search(r"test|_|::|#", word, re.IGNORECASE):
        return None
    return Claim(word, head if is_path else "", names)


def _parts(word: str) -> list[str]:
    """`cart.test.js > Cart > adds`, `CartTest#adds`, `a.py::B::test_c[x::y]`: split outside of brackets."""
    if _BETWEEN_TITLES in word:
        return word.split(_BETWEEN_TITLES)
    return re.split(r"(?:::|#(?=\w))(?![^\[]*\])", word)


def _ends_with(places: tuple[str, ...], full_name: str, wanted: tuple[str, ...]) -> bool:
    if not wanted:
        return True
    *classes, last = wanted
    is_named = last == full_name or _same(places[-1], last) or (not classes and last in places[:-1])
    above = places[:-1][len(places) - 1 - len(classes) :] if classes else ()
    return is_named and len(above) == len(classes) and all(map(_same, above, classes))


def _same(name: str, wanted: str) -> bool:
    return fnmatchcase(name, wanted.replace("[", "[[]"))


def _path_ends_with(path: str, wanted: str) -> bool:
    have, want = PurePosixPath(path).parts, PurePosixPath(wanted).parts
    if wanted.endswith("/"):
        return any(have[i : i + len(want)] == want for i in range(len(have) - len(want)))
    return len(want) <= len(have) and all(map(_same, have[len(have) - len(want) :], want))


def parent_of(id: str) -> str:
    """`04-REQ-1` of `04-REQ-1.2`; empty for an id that has no parent."""
    return id.rpartition(".")[0]


class Ownership:
    """Which expected ids a test, or a file, is about, in this order."""

    def __init__(self, order: CheckOrder) -> None:
        self._expected = tuple(order.expected)
        self._ids_of = _ids_of_words(order)
        shared = frozenset(order.shared)
        counted = [word for word in self._ids_of if COUNTED.fullmatch(word) or " " in word or word in shared]
        self._naming = Naming(self._ids_of.keys() - {*counted})
        self._counted = CountedIds(counted, order.spec, order.others, shared)
        self._claims = _claims_by_id(order.traceability)

    def map(self, cases: Iterable[Case], sources: Mapping[str, Source]) -> dict[str, Mapped]:
        """For each expected id, the tests of `cases` that show it."""
        known = tuple(cases)
        named = self._named(known, sources)
        return {id: self._mapped(id, known, named) for id in self._expected}

    def is_about(self, id: str, path: str, text: str) -> bool:
        claims, _ = self._claims.get(id, ((), ()))
        words = self._naming.in_text(text) | self._counted.named_by(NamedTest(said=text, path=path))
        return any(claim.names_file(path) for claim in claims) or id in self._about(words)

    def claimed_files(self) -> frozenset[str]:
        """The files that claims name."""
        return frozenset(claim.path for claims, _ in self._claims.values() for claim in claims if claim.path)

    def _mapped(self, id: str, cases: tuple[Case, ...], named: Mapping[str, tuple[Case, ...]]) -> Mapped:
        claims, odd = self._claims.get(id, ((), ()))
        whole, _ = self._claims.get(parent_of(id), ((), ()))
        by_table = tuple(case for claim in whole for case in cases if claim.names_case(case))
        return Mapped(
            tuple((claim, tuple(case for case in cases if claim.names_case(case))) for claim in claims),
            named.get(id, ()),
            tuple(dict.fromkeys((*by_table, *named.get(parent_of(id), ())))),
            odd,
        )

    def _named(self, cases: tuple[Case, ...], sources: Mapping[str, Source]) -> dict[str, tuple[Case, ...]]:
        named: dict[str, list[Case]] = {}
        for case in cases:
            source = sources.get(case.file)
            docs = source.said_of(case.classes, case.function) if source else ""
            words = self._naming.in_name("_".join((*case.classes, case.function))) | self._naming.in_text(docs)
            test = NamedTest(case.classes, case.function, docs, case.file, source.text if source else "")
            for id in self._about(words | self._counted.named_by(test)):
                named.setdefault(id, []).append(case)
        return {id: tuple(owned) for id, owned in named.items()}

    def _about(self, words: Iterable[str]) -> frozenset[str]:
        return frozenset(id for word in words for id in self._ids_of[word])


def _ids_of_words(order: CheckOrder) -> dict[str, frozenset[str]]:
    """What a test may name -> the ids it is then about. Names: expected ids, their parents, test specs."""
    ids_of = {id: {id} for id in order.expected}
    for id in order.expected:
        if parent_of(id):
            ids_of.setdefault(parent_of(id), set()).add(parent_of(id))
    for trace in order.traceability:
        for entry in trace.tests_specified:
            ids_of.setdefault(entry, set()).add(trace.requirement)
    for entry, ids in order.test_specs.items():
        ids_of.setdefault(entry, set()).update(ids)
    return {word: frozenset(ids) for word, ids in ids_of.items() if word}


def _claims_by_id(traces: Iterable[Trace]) -> dict[str, tuple[tuple[Claim, ...], tuple[str, ...]]]:
    cells: dict[str, list[str]] = {}
    for trace in traces:
        cells.setdefault(trace.requirement, []).extend(trace.tests)
    return {id: read_claims(tests) for id, tests in cells.items()}
