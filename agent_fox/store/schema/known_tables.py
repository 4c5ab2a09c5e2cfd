"""How each requirement is known, in SQL: the view, and the conditions that it shares with `known`. Imports nothing.

The view is `core.known.how_known` for tools that read the file by themselves; a test holds the two together. All of it
is part of a migration: never edit one that was released.
"""

from __future__ import annotations

IS_BY_TESTS = "(', ' || coalesce(s.backend, '') || ', ') LIKE '%, checks, %'"
"""Whether our own judge of tests was among the judges of a session."""

IS_PROVED = "(g.state = 'proved' OR (g.state = 'accepted' AND g.was_proved))"


def signer(when: str = "1") -> str:
    """SQL for who signed the newest waiver of the part `p` that has not ended, where `when` holds; NULL for none."""
    return f"""(
        SELECT w.signer FROM waivers AS w WHERE w.kind = 'requirement' AND w.spec_name = p.spec_name
            AND w.address = p.id AND w.version = p.version AND {when} AND NOT EXISTS (
                SELECT 1 FROM waiver_events AS e
                WHERE e.waiver_id = w.id AND e.kind IN ('expired', 'revoked', 'over')
            )
        ORDER BY w.granted_at DESC, w.id DESC LIMIT 1
    )"""


_NOT_EXPIRED = "julianday(w.expires_at) > julianday('now')"

COLUMN = """
ALTER TABLE verification_results ADD COLUMN how TEXT CHECK (how IS NULL OR (how <> '' AND verdict = 'PASS'));
"""
VIEW = f"""
CREATE VIEW requirements_known AS
SELECT p.spec_name, p.id AS requirement_id, v.verdict AS verdict, CASE
    WHEN v.verdict IS NOT 'PASS' THEN 'waived by ' || {signer(_NOT_EXPIRED)}
    WHEN v.how LIKE 'agreed by %' THEN v.how
    WHEN {IS_PROVED} THEN 'proved'
    WHEN v.how IS NOT NULL THEN v.how
    WHEN {IS_BY_TESTS} THEN 'tests passed'
    ELSE 'judged'
    END AS how
FROM plan_parts AS p
LEFT JOIN verification_results AS v
    ON v.spec_name = p.spec_name AND v.requirement_id = p.id AND v.superseded_by IS NULL
LEFT JOIN sessions AS s ON s.id = v.session_id
LEFT JOIN gates AS g ON g.spec_name = p.spec_name AND g.requirement_id = p.id;
"""
"""`verification_results.how` is NULL for what is no PASS, and for what was recorded before there were words.
`requirements_known`: one row for each requirement of the plan; `how` is NULL where it is not known to hold. Whether a
waiver's signature is good, SQL cannot tell: the program checks it."""
