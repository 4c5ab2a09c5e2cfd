"""The words by which headings and labels of Kiro's documents are known, in the languages they are written in.

They only help: where no word is known, the structure decides. Nothing is read here.
"""

from __future__ import annotations

import re

from agent_fox.core.regex import regex

REQUIREMENT = regex(
    r"requirements?\b|\breq\b|要件|需求|要求|요구|요건|requisit|requerim|exigence|anforderung"
    r"|требовани|вимог|wymagan|gereksinim|persyarat|kebutuhan|yêu cầu|vereiste|požadav|\bkrav|vaatimu"
    r"|ความต้องการ|متطلب|आवश्यकता",
    re.IGNORECASE,
)
NON_FUNCTIONAL = regex(
    r"\bnon-?\s?functional|\bnfrs?\b|非機能|非功能|비기능|no funcional|não[- ]funciona|non fonctionnel"
    r"|nicht-?\s?funktional|нефункциональн|non funzional|niefunkcjonaln",
    re.IGNORECASE,
)
STORY = regex(
    r"user stor|^story\b|objective|目的|ストーリー|用户故事|使用者故事|目标|목표|스토리|historia"
    r"|história|objetivo|récit|nutzergeschichte|histori|история|цель",
    re.IGNORECASE,
)
CRITERIA = regex(
    r"acceptance|criteri|critère|критери|kriteri|kryteri|受け?入|验收|驗收|接受[标標]|基準|检验标准"
    r"|인수|수용|akzeptanz|aceptaci|aceita[çc]|приемк|приёмк|chấp nhận|^ears\b|^acs?$",
    re.IGNORECASE,
)
EDGE = regex(
    r"edge[ -]?case|corner case|エッジ|境界|边界情|边缘|邊界|邊緣|casos? (?:l[íi]mite|borde|extremo"
    r"|de borda)|cas limite|grenzf[äa]ll|randf[äa]ll|граничн|крайни[ей] случа|엣지|경계",
    re.IGNORECASE,
)
ASIDE = regex(
    r"(?:technical |implementation |design )?notes?\b|rationale|examples?\b|dependenc"
    r"|out[ -]of[ -]scope|non-?goals?\b|assumption|priority|references?\b|open questions|questions?\b"
    r"|background|context\b|備考|補足|注記|注意|優先|例$|依存|背景|备注|備註|优先|示例|说明|notas?\b"
    r"|ejemplos?|exemplos?|justifica|prioridad|beispiel|hinweis|примечан|пример|비고|예시",
    re.IGNORECASE,
)
OUT = regex(
    r"out[ -]of[ -]scope|not in scope|non-?goals?\b|future (?:work|requirement|enhancement"
    r"|consideration)|appendix|examples?\b|対象外|スコープ外|範囲外|範圍外|范围外|不在范围|非目标|附录"
    r"|付録|fuera del? alcance|fora d[eo] escopo|hors (?:périmètre|champ)|nicht im umfang|вне (?:рамок"
    r"|области)|범위 (?:외|밖)",
    re.IGNORECASE,
)
NOT_REQUIREMENTS = regex(
    r"introduc|overview|summary|glossar|terminolog|definition|^scope|boundar|reference|assumption"
    r"|constraint|dependenc|success|metric|open question|risk|notes?\b|change ?log|revision|history"
    r"|stakeholder|background|purpose|context|priorit|timeline|traceab|^meta|はじめに|概要|序|用語"
    r"|範囲|スコープ|前提|制約|背景|参考|変更履歴|简介|簡介|引言|概述|术语|術語|范围|範圍|约束|风险"
    r"|小结|背景|glosario|glossário|introdu|resumen|resumo|alcance|escopo|einleitung|überblick"
    r"|введение|глоссари|обзор|소개|개요|용어",
    re.IGNORECASE,
)
OTHER_SERIES = regex(
    r"phase|stage|step|section|chapter|part\b|epic|propert|scenario|example|appendix|figure|table"
    r"|version|option|milestone|sprint|feature|フェーズ|ステップ|章|段階|阶段|步骤|fase|etapa|schritt"
    r"|этап",
    re.IGNORECASE,
)
PROPERTY = (
    r"(?:Property|Properties|プロパティ|属性|性質|特性|Propiedad|Propriedade|Propriété|Eigenschaft|Proprietà|Свойство"
    r"|속성|Właściwość|Özellik)"
)
OF_ANOTHER_SERIES = regex(
    rf"(?:{PROPERTY}|\b(?:sections?|tasks?|phases?|steps?|chapters?)|§)\s{{0,3}}#?\d{{1,4}}(?:\.\d{{1,4}}){{0,4}}"
    r"(?:(?<=\d)\s?[-–]\s?\d{1,4}(?:\.\d{1,4}){0,4})?",
    re.IGNORECASE,
)
DEFECT = regex(
    r"current|defect|as[- ]is|現在|現状|不具合|欠陥|当前|當前|现有|缺陷|actual\b|defecto|defeito|atual"
    r"|actuel|aktuell|текущ|현재",
    re.IGNORECASE,
)
EXPECTED = regex(
    r"expected|correct|to[- ]be|期待|正しい|正确|正確|预期|預期|期望|esperad|attendu|erwartet|ожидаем"
    r"|예상|기대",
    re.IGNORECASE,
)
UNCHANGED = regex(
    r"unchanged|regression|preserv|変更(?:しない|なし|されない|のない)|不変|維持|不变|不變|保持|回归"
    r"|sin cambios|inalterad|inchang|unverändert|неизмен|без изменений|변경되지|유지",
    re.IGNORECASE,
)
CHECKPOINT = regex(
    r"[\W_]{0,8}(?:(?:final|最終|最终|最後|último|última|finaler?|итогов\w+"
    r"|최종)\s{0,3}(?:の)?)?(?:check ?-?points?\b|チェックポイント|检查点|檢查點|検証ポイント"
    r"|체크포인트|점검|punto de (?:control|verificación)|ponto de (?:verifica|controle"
    r"|checagem)|point de contrôle|prüfpunkt|kontrollpunkt|контрольная точка)",
    re.IGNORECASE,
)
NOT_TASKS = regex(
    r"(?:overview|summary|test(?:ing)? commands?|traceab|(?:implementation |additional )?notes?\b"
    r"|legend\b|(?:.* )?legend$|(?:.* )?checkbox(?:es)?(?: (?:states?|status|syntax|meanings?|keys?|formats?|notations?"
    r"|conventions?|symbols?|legend))?$|(?:task )?(?:states?|status)$|references?\b|dependenc|examples?\b"
    r"|definition of done|success criteria|acceptance|risks?\b|(?:requirements? )?coverage|備考|凡例"
    r"|メモ|概要|備註|备注|说明|概述|依存|依赖|notas?\b|resumen|resumo|leyenda|完了の定義|完成标准"
    r"|成功(?:基準|标准))",
    re.IGNORECASE,
)
TASK = regex(
    r"(?:(?:sub)?task|phase|stage|step|group|milestone|sprint|タスク|フェーズ|ステップ|段階|任务|任務|阶段"
    r"|階段|步骤|tarea|tarefa|fase|etapa|passo|paso|tâche|aufgabe|schritt|задача|этап|작업|단계)",
    re.IGNORECASE,
)
WAITS = regex(
    r"depend|blocked by|requires tasks?|prerequisite|^after\b|依存|依赖|依賴|前提|先行|prerrequisito"
    r"|pré-?requisito|dépend|abhäng|завис|의존|선행",
    re.IGNORECASE,
)
ALL = regex(
    r"\ball\b(?!\s+\d)|全要件|(?:全て|すべて|全部?)の要件|全需求|(?:所有|全部)的?需求|全体|全部$|所有$|全て$"
    r"|すべて$|\btod[oa]s\b|\btoutes?\b|\balle\b|\btutt[ie]\b|\bвсе\b|모든",
    re.IGNORECASE,
)
NONE = regex(
    r"[\W_]{0,5}(?:n/?a|none|-+|なし|無し|无|無|ningun[oa]|nenhum|aucune?|keine|нет|없음)?[\W_]{0,5}$", re.IGNORECASE
)
PARALLEL = regex(r"[(\[（](?:P|parallel|並行可?|並列可?|并行|平行|paralel[oa]|parallèle|병렬)[)\]）]", re.IGNORECASE)
OPTIONAL = regex(
    r"[(\[（](?:optional|任意|オプション|可选|可選|opcional|optionnel(?:le)?|опционально|선택)[)\]）]", re.IGNORECASE
)
TAKEN_BACK = regex(
    r"[\W_]{0,4}(?:removed|withdrawn|deprecated|obsolete|superseded|deleted|削除|廃止|已?删除|已?废弃"
    r"|已?移除|eliminado|removido)[\W_]{0,4}(?:$|[:：\])）])",
    re.IGNORECASE,
)
EARS = regex(r"\b(?:shall|must|when|if|while|where)\b|する|こと|SHALL", re.IGNORECASE)
