"""How the requirements of the plan are known, as the state file has it. Which word that is: `core.known`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agent_fox.core.known import Facts, how_known
from agent_fox.store.known_tables import IS_BY_TESTS, IS_PROVED, signer

if TYPE_CHECKING:
    from sqlite_utils import Database

_FACTS = (
    f"SELECT p.spec_name, p.id, coalesce(v.verdict = 'PASS', 0), coalesce(v.how, ''), {IS_BY_TESTS}, {IS_PROVED}, "
    f"coalesce({signer()}, '') FROM plan_parts AS p LEFT JOIN verification_results AS v "
    "ON v.spec_name = p.spec_name AND v.requirement_id = p.id AND v.superseded_by IS NULL "
    "LEFT JOIN sessions AS s ON s.id = v.session_id "
    "LEFT JOIN gates AS g ON g.spec_name = p.spec_name AND g.requirement_id = p.id "
    "WHERE :spec IS NULL OR p.spec_name = :spec ORDER BY p.spec_name, p.position"
)


def words_known(
    db: Database, waived: Callable[[str, str], bool], spec_name: str | None = None
) -> dict[str, dict[str, str]]:
    """By spec, then by requirement: how it is known. What is not known is left out.

    `waived` tells whether a waiver of a requirement counts: its signature was checked, and it has not expired.
    """
    found: dict[str, dict[str, str]] = {}
    for spec, part, passes, told, by_tests, proved, name in db.execute(_FACTS, {"spec": spec_name}):
        waived_by = name if name and not passes and waived(spec, part) else ""
        facts = Facts(bool(passes), told, bool(by_tests), bool(proved), waived_by)
        if word := how_known(facts):
            found.setdefault(spec, {})[part] = str(word)
    return found


def none_waived(spec_name: str, requirement_id: str) -> bool:
    """For who cannot check signatures."""
    return False
