"""Specs that nobody wrote: any text in any place. What is to hold of them is not here."""

from __future__ import annotations

from hypothesis import strategies as st

from agent_fox.core.spec import (
    Criterion,
    Dependency,
    Group,
    Requirement,
    SourceIssue,
    Spec,
    Subtask,
    TaskState,
    Trace,
)

ODD = (
    *("", " ", "\n", "\n\nx\n", "  lead", "trail  ", "a\n  b\n\n\n c", "\t", "a\tb"),
    *(
        "- x",
        "  - [x] 1. A",
        "# Spec: `a`: B",
        "## Tasks",
        "### 1: T",
        "Edge cases:",
        "Details:",
        "> q",
        "---",
        "*",
        "**",
    ),
    *("```", "````\n~~~", "<!-- c -->", "-->", "a|b", "|---|---|---|---|", "`", "``", "\\|"),
    *("_Text: none_", "_Text:_", "_Requirements: 1_", "none", ", ", "a, b", "a: b", "=======", "<<<<<<< a"),
    *("&#10;", "&amp;#10;", "&#38;#10;", "&#1114112;", "&#9999999;", "é", "要求1", "🦊", "x" * 500),
    *("\x00", "\x1b[31m", "\r\n", "\u2028", "\ud800", "\ufeff", "\u202e"),
)
texts = st.one_of(
    st.sampled_from(ODD),
    st.lists(st.sampled_from(ODD), max_size=4).map("\n".join),
    st.lists(st.sampled_from(ODD), max_size=4).map("".join),
    st.text(st.characters(exclude_categories=()), max_size=30),
    st.sampled_from(["WHEN a door opens, THE lock SHALL log it.", "Add the lock"]),
)
ids = st.one_of(st.from_regex(r"\d{1,2}(\.E?\d{1,2})?", fullmatch=True), texts)
id_lists = st.lists(ids, max_size=3).map(tuple)
states = st.sampled_from(list(TaskState))
numbers = st.integers(0, 999_999)
criteria = st.lists(st.builds(Criterion, ids, texts), max_size=3).map(tuple)
requirements = st.builds(Requirement, ids, texts, texts, criteria, criteria, st.lists(texts, max_size=2).map(tuple))
subtasks = st.builds(
    Subtask,
    ids,
    texts,
    states,
    st.booleans(),
    id_lists,
    st.lists(texts, max_size=3).map(tuple),
    st.booleans(),
    id_lists,
)
groups = st.builds(
    Group, numbers, texts, states, st.booleans(), st.booleans(), st.none() | texts,
    st.lists(subtasks, max_size=3).map(tuple), id_lists, texts, st.booleans(), st.booleans(),
)  # fmt: skip
maybe = st.none() | numbers
specs = st.builds(
    Spec,
    name=texts,
    dialect=st.sampled_from(["plain", "kiro"]),
    path=texts,
    title=texts,
    requirements=st.lists(requirements, max_size=3).map(tuple),
    groups=st.lists(groups, max_size=3).map(tuple),
    dependencies=st.lists(st.builds(Dependency, ids, maybe, maybe, st.just(""), st.booleans()), max_size=3).map(tuple),
    traceability=st.lists(st.builds(Trace, ids, id_lists, id_lists, id_lists), max_size=3).map(tuple),
    test_commands=st.dictionaries(texts, texts, max_size=3),
    withdrawn=id_lists,
    is_withdrawn=st.booleans(),
    source=st.none() | st.builds(SourceIssue, numbers, texts, texts),
    implied=st.frozensets(ids, max_size=3),
    is_baseline=st.booleans(),
)
