"""How the requirements of the plan are known, as the state file has it, and in which environments they were judged.

Which word that is: `core.known`. The parts of an environment are kept once, by the hash that sessions and records name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from agent_fox.core.ledger.evidence import environment_hash
from agent_fox.core.verdicts.known import Facts, how_known
from agent_fox.store.schema.known_tables import IS_BY_TESTS, IS_PROVED, signer
from agent_fox.store.values import insert, to_json

if TYPE_CHECKING:
    from sqlite_utils import Database

_FACTS = (
    f"SELECT p.spec_name, p.id, coalesce(v.verdict = 'PASS', 0), coalesce(v.how, ''), {IS_BY_TESTS}, {IS_PROVED}, "
    f"coalesce({signer()}, '') FROM plan_parts AS p LEFT JOIN verification_results AS v "
    "ON v.spec_name = p.spec_name AND v.requirement_id = p.id AND v.superseded_by IS NULL "
    "LEFT JOIN sessions AS s ON s.id = v.session_id "
    "LEFT JOIN (SELECT * FROM gates AS p {where}) AS g ON g.spec_name = p.spec_name AND g.requirement_id = p.id "
    "{where} ORDER BY p.spec_name, p.position"
)


def words_known(
    db: Database, waived: Callable[[str, str], bool], spec_name: str | None = None
) -> dict[str, dict[str, str]]:
    """By spec, then by requirement: how it is known. What is not known is left out.

    `waived` tells whether a waiver of a requirement counts: its signature was checked, and it has not expired.
    """
    words_of: dict[str, dict[str, str]] = {}
    of_one = (
        "" if spec_name is None else "WHERE p.spec_name = :spec"
    )  # of the view too, which would be made whole otherwise
    rows = db.execute(_FACTS.replace("{where}", of_one), {"spec": spec_name})
    for spec, part, passes, how, by_tests, proved, name in rows:
        waived_by = name if name and not passes and waived(spec, part) else ""
        facts = Facts(bool(passes), how, bool(by_tests), bool(proved), waived_by)
        if word := how_known(facts):
            words_of.setdefault(spec, {})[part] = str(word)
    return words_of


def none_waived(spec_name: str, requirement_id: str) -> bool:
    """For who cannot check signatures."""
    return False


KIND = "environment"


def note_environment(db: Database, at: str, run_id: int, name: str, parts: Mapping[str, str]) -> None:
    """Keep what an environment is made of, before its first session is written. In the open transaction."""
    is_known = db.execute("SELECT 1 FROM sessions WHERE environment = ? LIMIT 1", [name]).fetchone()
    if is_known is None:
        insert(db, "events", {"at": at, "run_id": run_id, "kind": KIND, "data": to_json({"id": name, "parts": parts})})


def parts_of(db: Database, name: str) -> dict[str, str]:
    """What an environment was made of; empty where only its hash is known."""
    sql = "SELECT data FROM events WHERE kind = ? AND json_extract(data, '$.id') = ? ORDER BY id DESC LIMIT 1"
    row = db.execute(sql, [KIND, name]).fetchone()
    parts: dict[str, str] = json.loads(row[0])["parts"] if row else {}
    return parts


def in_which(was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """What differs between two environments, as far as both tell it: `python was 3.11 and is 3.12`."""
    for part in sorted(was.keys() & now.keys()):
        if was[part] != now[part]:
            yield f"{part} was {was[part]} and is {now[part]}"


JUDGED_IN = (
    "SELECT DISTINCT s.environment, p.spec_name FROM plan_parts AS p "
    "JOIN verification_results AS v ON v.spec_name = p.spec_name AND v.requirement_id = p.id "
    "AND v.superseded_by IS NULL AND v.verdict = 'PASS' "
    "JOIN sessions AS s ON s.id = v.session_id WHERE s.environment <> ''"
)


def judged_elsewhere(db: Database, now: Callable[[str], Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    """The environments that present PASSes were given in and that are not the one of now, each with what differs. `now`
    tells by a spec's name where it would be judged; an environment counts where it does for each spec judged in it.
    """
    away = {}
    for name, spec in db.execute(JUDGED_IN).fetchall():
        if name != environment_hash(here := now(spec)):
            away[name] = tuple(in_which(parts_of(db, name), here)) or (UNTOLD,)
    return away


UNTOLD = "in what is not recorded"
