"""What a task comes after is read from what other tasks, prose about their order and tables say outright."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.specs.spec_kit.worlds import read

TASKS = "# Tasks\n\n## Phase 1: A\n\n" + "".join(f"- [ ] T00{n} task {n}\n" for n in range(1, 10))


def order(tmp_path: Path, words: str, tasks: str = TASKS) -> tuple[dict[str, str], list[str]]:
    """What each task comes after, as words, and the problems."""
    spec, problems = read(tmp_path, spec="# S\n\n- **FR-001**: sell\n", tasks=tasks + words)
    after = {task.number: " ".join(task.after) for group in spec.groups for task in group.subtasks if task.after}
    return after, problems


@pytest.mark.parametrize(
    ("words", "after"),
    [
        ("T004 blocks T005, T007, and T008.", {"T005": "T004", "T007": "T004", "T008": "T004"}),
        ("T001, T002 block T004 (they make it)", {"T004": "T001 T002"}),
        ("T001–T003 must complete before T004", {"T004": "T001 T002 T003"}),
        ("**T001**: precedes nothing; T002 precedes T003", {"T003": "T002"}),
        ("**Story**: T003 depends on T001; T004 depends on T002 and T003.", {"T003": "T001", "T004": "T002 T003"}),
        ("T003 depends on T001, T004 depends on T002", {"T003": "T001", "T004": "T002"}),
        ("T004 blocks T005. T005 blocks T006/T007.", {"T005": "T004", "T006": "T005", "T007": "T005"}),
        ("T002 before T003 (b) before T004 before Phase 2", {"T003": "T002", "T004": "T003"}),
        ("T002, T003 in parallel after T001", {"T002": "T001", "T003": "T001"}),
        ("Tests (T001-T002) before implementation (T003-T004)", {"T003": "T001 T002", "T004": "T001 T002"}),
        ("T001 [P] → T002 → (T003, T004) -> T005/T006", {
            "T002": "T001", "T003": "T002", "T004": "T002", "T005": "T003 T004", "T006": "T003 T004"
        }),
        ("T006 beside T004 (other files; T005 depends on T004)", {"T005": "T004"}),
        ("T003 depende de T001; T003 bloquea T004", {"T003": "T001", "T004": "T003"}),
        ("T003 依赖 T001。T001 阻塞 T002", {"T003": "T001", "T002": "T001"}),
        ("T002 depends only on T001 and goes on\n  long", {"T002": "T001"}),
    ],
)  # fmt: skip
def test_prose_about_the_order_of_tasks_counts_where_it_is_outright(
    tmp_path: Path, words: str, after: dict[str, str]
) -> None:
    assert order(tmp_path, f"\n## Dependencies & Execution Order\n\n- {words}\n") == (after, [])


@pytest.mark.parametrize(
    "words",
    [
        "T003 does not depend on T001",
        "T003 no longer depends on T001",
        "If T003 depends on T001, wait",
        "T004 blocks T005 only insofar as it raises",
        "T003 can be written before T002",
        "T003 and T004 can run in parallel",
        "T003 precedes the code, T004 is later",
        "Phase 2 depends on Phase 1; US2 depends on US1",
        "T001 after all others",
        "T003-related work comes before T004-like work",
        "| T003 | after | T001 |",
    ],
)
def test_prose_that_leaves_a_doubt_does_not_count(tmp_path: Path, words: str) -> None:
    assert order(tmp_path, f"\n## Dependencies\n\n- {words}\n") == ({}, [])


def test_prose_elsewhere_and_samples_do_not_count(tmp_path: Path) -> None:
    words = "\n## Parallel Example\n\n- T001 → T002\n\n## Dependencies\n\n```\nT002 → T003\n```\n"
    assert order(tmp_path, words) == ({}, [])


def test_a_label_says_that_what_follows_is_about_the_order(tmp_path: Path) -> None:
    words = "\n**Dependencies**: T001 and T002 are parallel. T004 depends on T002.\n\n### Notes\n\nT005 blocks T006\n"
    assert order(tmp_path, words) == ({"T004": "T002"}, [])


@pytest.mark.parametrize(
    ("words", "after"),
    [
        ("**Depends on**: T001 (the file). Beside all else (T005).", "T001"),
        ("**⚠️ Depends on T001** (what was found) and more", ""),
        ("**⚠️ Depends on T001** (what was found)", "T001"),
        ("**Dependencies**: T001–T003 must be complete", "T001 T002 T003"),
        ("**Dependencies**: T001 and T002 are parallel", ""),
        ("**Dependencies**: T010 comes first", ""),
        ("**Dependencies**: T010", ""),
        ("It depends on T001.", ""),
    ],
)
def test_the_head_of_a_phase_says_what_all_of_it_depends_on(tmp_path: Path, words: str, after: str) -> None:
    phase = f"\n## Phase 2: B\n\n{words}\n\n- [ ] T010 a\n- [ ] T011 b\n\n**Dependencies**: T009.\n"
    found, problems = order(tmp_path, phase)
    assert (found, problems) == ({"T010": after, "T011": after} if after else {}, [])


def test_a_task_says_itself_what_it_blocks(tmp_path: Path) -> None:
    more = "- [ ] T010 a. **Depends on**: T001. **Blocks**: T002, T003-T004.\n"
    more += "- [ ] T011 b\n  - Must complete before T005\n"
    after = {"T002": "T010", "T003": "T010", "T004": "T010", "T010": "T001", "T005": "T011"}
    assert order(tmp_path, "", TASKS + more) == (after, [])


def test_a_table_says_what_comes_before_what(tmp_path: Path) -> None:
    table = (
        "\n## Matrix\n\n| Task | Depends On | Blocks |\n|---|---|---|\n| **T003** | T001, T002 (first) | T004-T005 |\n"
    )
    found, problems = order(tmp_path, table + "| T006 | — | none |\n| all | T001 | |\n")
    assert (found, problems) == ({"T003": "T001 T002", "T004": "T003", "T005": "T003"}, [])


def test_a_task_that_is_not_there_is_said(tmp_path: Path) -> None:
    found, problems = order(tmp_path, "\n## Dependencies\n\n- T001 blocks T002 and T077\n")
    assert found == {"T002": "T001"}
    assert problems == ["tasks.md:17 the order of tasks names T077: no such task here. Correct the number"]


def test_very_many_pairs_are_not_kept_and_that_is_said(tmp_path: Path) -> None:
    tasks = "# Tasks\n\n## Phase 1: A\n\n" + "".join(f"- [ ] T{n} a (after T1-T900)\n" for n in range(1, 901))
    found, problems = order(tmp_path, "\n## Dependencies\n\n- T1-T900 block T1-T900\n", tasks)
    assert sum(len(after.split()) for after in found.values()) < 210_000
    assert problems == [
        "tasks.md:1 words about the order of tasks name more than 200000 of them: not all are kept. Name fewer"
    ]
