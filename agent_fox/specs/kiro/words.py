"""The words by which headings and labels of Kiro's documents are known, in the languages they are written in.

They only help: where no word is known, the structure decides. Nothing is read here.
"""

from __future__ import annotations

import re

from agent_fox.core.regex import regex
from agent_fox.specs.word_tables import words_in

_WORDS = words_in(__file__)
REQUIREMENT = _WORDS["requirement"]
NON_FUNCTIONAL = _WORDS["non_functional"]
STORY = _WORDS["story"]
CRITERIA = _WORDS["criteria"]
EDGE = _WORDS["edge"]
ASIDE = _WORDS["aside"]
OUT = _WORDS["out"]
NOT_REQUIREMENTS = _WORDS["not_requirements"]
OTHER_SERIES = _WORDS["other_series"]
PROPERTY = (
    r"(?:Property|Properties|プロパティ|属性|性質|特性|Propiedad|Propriedade|Propriété|Eigenschaft|Proprietà|Свойство"
    r"|속성|Właściwość|Özellik)"
)
OF_ANOTHER_SERIES = regex(
    rf"(?:{PROPERTY}|\b(?:sections?|tasks?|phases?|steps?|chapters?)|§)\s{{0,3}}#?\d{{1,4}}(?:\.\d{{1,4}}){{0,4}}"
    r"(?:(?<=\d)\s?[-–]\s?\d{1,4}(?:\.\d{1,4}){0,4})?",
    re.IGNORECASE,
)
DEFECT = _WORDS["defect"]
EXPECTED = _WORDS["expected"]
UNCHANGED = _WORDS["unchanged"]
CHECKPOINT = _WORDS["checkpoint"]
NOT_TASKS = _WORDS["not_tasks"]
TASK = _WORDS["task"]
WAITS = _WORDS["waits"]
ALL = _WORDS["all"]
NONE = regex(
    r"[\W_]{0,5}(?:n/?a|none|-+|なし|無し|无|無|ningun[oa]|nenhum|aucune?|keine|нет|없음)?[\W_]{0,5}$", re.IGNORECASE
)
PARALLEL = _WORDS["parallel"]
OPTIONAL = _WORDS["optional"]
TAKEN_BACK = _WORDS["taken_back"]
EARS = regex(r"\b(?:shall|must|when|if|while|where)\b|する|こと|SHALL", re.IGNORECASE)
