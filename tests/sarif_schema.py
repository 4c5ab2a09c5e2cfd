"""What the JSON Schema of SARIF 2.1.0 says is wrong with a log. No test is here."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from jsonschema import Draft4Validator  # type: ignore[import-untyped]

SCHEMA = Path(__file__).parents[1] / "fixtures" / "sarif" / "sarif-2.1.0-rtm.5.json"


@cache
def validator() -> Draft4Validator:
    return Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def problems(log: object) -> list[str]:
    """Everything that is not as the standard has it; the log as it is after it was written and read."""
    written = json.loads(json.dumps(log))
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in validator().iter_errors(written)]
