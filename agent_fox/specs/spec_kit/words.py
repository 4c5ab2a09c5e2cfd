"""The words that spec-kit's templates put over their parts, in the languages that people translate them to.

Structure decides wherever it can; these words help. What a part says is not read here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from agent_fox.core.regex import regex

_STORY_WORDS = (
    r"user[ -]?stor(?:y|ies)|stor(?:y|ies)|us(?=[ -]?\d)|ユーザーストーリー|用[户戶]故事|使用者故事|사용자 ?스토리"
    r"|hist[oó]rias? d[eo]l? usu[aá]rio|r[ée]cits? utilisateurs?|histoires? utilisateurs?"
    r"|(?:be)?nutzer(?:geschichte|story)|anwendergeschichte|пользовательск\w{1,4} истори\w{1,3}|stori[ae] utente"
    r"|kullanıcı hikayesi|câu chuyện người dùng"
)
STORY_NUMBER = r"\d{1,4}(?:[A-Za-z](?![^\W_]))?"
STORY = regex(_STORY_WORDS, re.IGNORECASE)
NUMBERED_STORY = regex(
    rf"[\W_]{{0,8}}(?:{_STORY_WORDS})[\s#:_–—-]{{0,4}}(?P<number>{STORY_NUMBER})(?P<rest>.*)", re.IGNORECASE
)
NAMED_STORY = regex(rf"[\W_]{{0,8}}(?:{_STORY_WORDS})\s{{0,3}}[:：–—-]\s{{0,3}}(?P<rest>[^\s].*)", re.IGNORECASE)
PRIORITY = regex(r"[(（\[【][^()（）\[\]【】]{0,60}(?<![A-Za-z0-9])P\d")
ANY_NUMBERED = regex(r"(?P<words>[^\W\d][^\d]{1,40}?)\s{0,3}(?P<number>\d{1,3})(?P<rest>\s{0,3}[-–—:：.)].*)")

_PHASE_WORDS = (
    r"phase|fase|étape|etapa|этап|фаза|stage|step|schritt|milestone|sprint|iteration|aşama|giai đoạn"
    r"|work package|wp|フェーズ|ステージ|阶段|階段|단계"
)
PHASE = regex(
    rf"[\W_]{{0,8}}(?:(?:{_PHASE_WORDS})[\s#:_-]{{0,3}}(?P<number>\d{{1,4}}(?:\.\d{{1,4}}){{0,3}}(?![\w.]*-?\d)|[NX]\b)"
    r"|第\s?(?P<asian>\d{1,4}|[一二三四五六七八九十]{1,3})\s?(?:阶段|階段|段階|フェーズ)"
    r"|(?P<korean>\d{1,4})\s?단계)(?P<rest>.*)",
    re.IGNORECASE,
)

_GHERKIN = (
    r"given|前提(?:条件)?|假[设設如定]|鉴于|給定|给定|dados?(?: que)?|étant donné|gegeben|angenommen|дано|전제|주어진",
    r"when|操作|もし|当|當|quando|cuando|quand|lorsque|wenn|когда|만약|언제",
    r"then|期待結果|ならば|则|則|那么|那麼|então|entao|entonces|alors|dann|тогда|그러면",
)
_AND = r"and|but|かつ|并且|而且|且|e|y|et|und|mas|pero|и|но|그리고"
_STARTS = [
    regex(rf"\W{{0,4}}(?:{words})(?:[*_]{{0,2}}[\s:：,、，]|[*_]{{2}})", re.IGNORECASE) for words in (*_GHERKIN, _AND)
]
_HOLDS = [regex(rf"(?:\*\*|\b)(?:{words})(?:\*\*|\b)", re.IGNORECASE) for words in _GHERKIN]
SCENARIO = regex(
    r"\W{0,6}(?:acceptance )?(?:scenario|cen[aá]rio|escenario|scénario|szenario|сценарий|シナリオ|场景|場景|시나리오)"
    r"(?!s\b)\s?(?:\d{1,3}(?:\.\d{1,3})?|[A-Z](?![a-z]))?\s?[:：.–—-]\s?(?P<rest>.*)",
    re.IGNORECASE,
)
AND = 3


def step_at_start(text: str) -> int | None:
    """0, 1, 2 for a text that begins with Given, When, Then; 3 for And."""
    return next((n for n, words in enumerate(_STARTS) if words.match(text)), None)


def steps_in(text: str) -> frozenset[int]:
    """Which of Given, When, Then a text holds."""
    return frozenset(n for n, words in enumerate(_HOLDS) if words.search(text))


class Kind(Enum):
    """What a part of spec.md holds, told from its heading or label."""

    ASIDE = "aside"
    EDGES = "edges"
    SUCCESS = "success"
    SCENARIOS = "scenarios"
    REQUIREMENTS = "requirements"
    ENTITIES = "entities"
    OTHER = "other"


_LEAD = r"(?:[\W\d_]*)"
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        Kind.ASIDE,
        regex(
            rf"{_LEAD}(?:assumption|dependenc|out of scope|non-?goals?|clarification|open question|questions?\b"
            r"|glossary|risks?\b|notes?\b|references?\b|execution (?:status|flow)|quick guidelines|for ai generation"
            r"|related|independent|section requirements|rationale|motivation|background|changelog|revision|history"
            r"|appendix|input\b|why this|requirements? (?:traceab|cover|mapping|fulfilled|addressed)|traceab"
            r"|example|假[设設定]|前提(?!条件)|仮定"
            r"|依[赖賴存]|范围外|範囲外|範圍外|スコープ外|澄清|明確化|非目标|非目標|가정|의존|premissas|suposi|supuestos"
            r"|hypothèses|annahmen|допущ|предполож|depend[eê]nc|dépendanc|abhängig|зависимост|fuera de alcance"
            r"|fora d[eo] escopo|hors p[ée]rim)"
            r"|.*(?:checklist|check-list|检查清单|檢查清單|チェックリスト|체크리스트|lista de verifica|traceability)",
            re.IGNORECASE,
        ),
    ),
    (
        Kind.ENTITIES,
        regex(
            r".*(?:\bkey entit|\bentit(?:y|ies|és?|à)\b|\bentidad|\bdata model|实体|實體|エンティティ|엔[터티]티"
            r"|сущност|entitäten)",
            re.IGNORECASE,
        ),
    ),
    (
        Kind.EDGES,
        regex(
            r".*(?:\bedge\b|\bcorner case|\berror cases?\b|エッジケース|境界|边界|邊界|边缘情况|邊緣|엣지|예외|경계"
            r"|casos? (?:extremos?|de borda|borde|l[ií]mite)|cas (?:limites?|particuliers|aux limites)"
            r"|(?:grenz|rand)fäll|гранич|пограничн|крайние случаи|casi limite)",
            re.IGNORECASE,
        ),
    ),
    (
        Kind.SUCCESS,
        regex(
            r".*(?:\bsuccess (?:criteri|metric|measure)|\bmeasurable outcome|成功(?:标准|標準|基準|指标)|測定可能"
            r"|可衡量|성공 ?기준|crit[ée]ri?os? d[eu]l? (?:sucesso|[ée]xito)|critères de succès|erfolgskriteri"
            r"|критерии успеха)",
            re.IGNORECASE,
        ),
    ),
    (
        Kind.SCENARIOS,
        regex(
            r".*(?:\bacceptance\b|\bacceptation\b|\bac[ce]ita[cç][aã]o|\baceptaci[oó]n|\baceite\b|\bacceptances?\b"
            r"|验收|驗收|受け入れ|受入|인수|приемк|приёмк|akzeptanz|accettazione)",
            re.IGNORECASE,
        ),
    ),
    (
        Kind.REQUIREMENTS,
        regex(
            r".*(?:\brequirements?\b|\brequisitos?\b|\brequerimientos?\b|\bexigences?\b|anforderung|требовани|\brequisiti\b"
            r"|\bbusiness rules?\b|\bregras? de neg[óo]cio|\breglas? de negocio"
            r"|要件|要求|需求|요구 ?사항|\byêu cầu|gereksinim)",
            re.IGNORECASE,
        ),
    ),
)


def kind_of(title: str) -> Kind | None:
    """What a heading or label announces; None where its words say nothing."""
    return next((kind for kind, words in _KINDS if words.match(title[:200])), None)


_MAY_NAME_A_PART = regex(
    r"[\W\d_]*(?:notes?|history|references?|background|questions?|examples?|glossary|related|risks?|revisions?)\b",
    re.IGNORECASE,
)


def names_a_part(titles: Sequence[str]) -> bool:
    """Whether a title such as *Notes* names what the app has: requirements are the chapter that it stands in.
    `titles`: the nearest first. *Out of scope* says the same wherever it stands."""
    kinds = [kind_of(title) for title in titles]
    asides = [title for title, kind in zip(titles, kinds, strict=True) if kind is Kind.ASIDE]
    return Kind.REQUIREMENTS in kinds and all(_MAY_NAME_A_PART.match(title[:200]) for title in asides)
