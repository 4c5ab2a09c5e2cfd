"""Whose work a failing requirement is."""

from __future__ import annotations

from agent_fox.core.plan.blame import Ground, Owned, Ownership, blame, ownership
from agent_fox.core.plan.guesses import Guess
from agent_fox.core.retry.clusters import clusters, fingerprint_of
from agent_fox.core.spec import Criterion, Group, Requirement, Spec, Subtask, Trace
from agent_fox.core.verdicts.verdict import Signal, Verdict, Word


def requirement(number: int, *parts: str) -> Requirement:
    return Requirement(f"01-REQ-{number}", "t", "", tuple(Criterion(f"01-REQ-{number}.{p}", "x") for p in parts))


def spec(*groups: Group, traces: tuple[Trace, ...] = (), requirements: tuple[Requirement, ...] = ()) -> Spec:
    wanted = requirements or (requirement(1, "1", "2"),)
    return Spec("01_a", "agent-fox", "specs/01_a", "", wanted, groups, traceability=traces)


def test_the_traceability_table_names_the_owner() -> None:
    traces = (Trace("01-REQ-1.1", tasks=("2.1", "3.4")), Trace("01-REQ-1.2", tasks=("3.1",)))
    owned = ownership(spec(Group(1, "a"), Group(2, "b"), Group(3, "c"), traces=traces))
    assert (owned.of("01-REQ-1.1"), owned.of("01-REQ-1.2")) == ((2, 3), (3,))


def test_a_task_of_a_task_belongs_to_the_group_too() -> None:
    traces = (Trace("01-REQ-1.1", tasks=(" 1 .2.3",)), Trace("01-REQ-1.2", tasks=("2", "x.1")))
    owned = ownership(spec(Group(1, "a"), Group(2, "b"), Group(3, "c"), traces=traces))
    assert (owned.of("01-REQ-1.1"), owned.of("01-REQ-1.2")) == ((1,), (2,))


def test_a_trace_of_the_requirement_covers_its_criteria_unless_they_have_their_own() -> None:
    traces = (Trace("01-REQ-1", tasks=("1.1",)), Trace("01-REQ-1.2", tasks=("2.1",)))
    owned = ownership(spec(Group(1, "a"), Group(2, "b"), traces=traces))
    assert (owned.of("01-REQ-1.1"), owned.of("01-REQ-1.2")) == ((1,), (2,))


def test_without_traceability_the_requirement_lines_of_groups_and_subtasks_count() -> None:
    second = Group(2, "b", subtasks=(Subtask("2.1", "x", requirements=("01-REQ-1.1",)),))
    owned = ownership(spec(Group(1, "a", requirements=("01-REQ-1",)), second, Group(3, "c")))
    assert (owned.of("01-REQ-1.1"), owned.of("01-REQ-1.2")) == ((1, 2), (1,))


def test_the_group_that_only_writes_tests_is_not_blamed_while_another_implements() -> None:
    tests = Group(1, "Write failing tests", writes_tests_only=True, requirements=("01-REQ-1.1", "01-REQ-1.2"))
    owned = ownership(spec(tests, Group(2, "b", requirements=("01-REQ-1.1",))))
    assert (owned.of("01-REQ-1.1"), owned.of("01-REQ-1.2")) == ((2,), (1,))


def test_what_is_mapped_nowhere_falls_to_the_last_group() -> None:
    assert ownership(spec(Group(1, "a"), Group(7, "b"))).of("01-REQ-1.1") == (7,)
    assert ownership(spec(Group(1, "a"), Group(2, "b"), Group(7, "c"))).fallback == (7,)
    assert ownership(spec()).of("01-REQ-1.1") == ()


def test_tasks_of_groups_that_do_not_exist_are_passed_over() -> None:
    traces = (Trace("01-REQ-1.1", tasks=("9.1", "all", "2.V")),)
    assert ownership(spec(Group(1, "a"), Group(2, "b"), traces=traces)).of("01-REQ-1.1") == (2,)


def test_what_nobody_owns_is_told_in_the_order_of_the_file() -> None:
    groups = Group(1, "a", requirements=("01-REQ-2.1",)), Group(2, "b")
    owned = ownership(spec(*groups, requirements=(requirement(1, "1", "2"), requirement(2, "1"))))
    assert owned.unowned == owned.doubtful == ("01-REQ-1.1", "01-REQ-1.2")


def test_what_a_failure_goes_through_comes_before_a_weak_guess_alone() -> None:
    weak, firm = (Owned((1,), Ground.GUESSED, Guess(1, score, ("a",))) for score in (0.05, 0.5))
    owned = Ownership({"a": (1,), "b": (1,)}, (5,), {"a": weak, "b": firm})
    assert owned.doubtful == ("a",)
    assert blame(["a"], owned, passed={"a": (3,)}) == (3,)
    assert blame(["b"], owned, passed={"b": (3,)}) == (1,)


def test_a_group_that_only_verifies_is_not_blamed_while_another_makes() -> None:
    named = ("01-REQ-1.1",)
    tasks = tuple(Subtask(f"2.{n}", title) for n, title in enumerate(("Verify doors", "Run the suite"), 1))
    groups = Group(1, "a", requirements=named), Group(2, "b", subtasks=tasks, requirements=named)
    assert ownership(spec(*groups)).of("01-REQ-1.1") == (1,)
    assert ownership(spec(groups[1], Group(3, "c"))).of("01-REQ-1.1") == (2,)


def test_a_guess_that_is_not_kept_has_no_words() -> None:
    assert Owned((1,), Ground.GUESSED).why == ""


OWNED = Ownership({"a": (1,), "b": (2, 3), "c": (1,)}, (5,))


def test_blamed_groups_stand_once_and_in_plan_order() -> None:
    assert blame(["b", "c", "a"], OWNED) == (1, 2, 3)
    assert blame(["unmapped"], OWNED) == (5,)
    assert blame(["unmapped", "a"], OWNED, passed={"unmapped": (4,), "a": (3,)}) == (1, 4)
    assert blame([], OWNED) == ()


def test_groups_that_ran_since_the_pass_are_blamed_before_the_owner() -> None:
    assert blame(["a"], OWNED, rerun={"a": (4,)}) == (4,)
    assert blame(["a", "b"], OWNED, rerun={"a": (4,)}) == (2, 3, 4)


def test_a_suspect_without_attempts_gives_way_to_the_owner() -> None:
    assert blame(["a"], OWNED, rerun={"a": (4,)}, spent=frozenset({4})) == (1,)
    assert blame(["a"], OWNED, rerun={"a": (3, 4)}, spent=frozenset({4})) == (3,)
    assert blame(["a"], OWNED, spent=frozenset({1})) == (1,)


def fail(part: str, signal: Signal | None = None) -> Verdict:
    return Verdict(part, Word.FAIL, signal=signal, evidence=f"prose about {part}")


def test_failures_with_one_signal_are_one_cause_also_across_specs() -> None:
    signal = Signal("pytest", "E assert #")
    (here,) = clusters([fail("a", signal), fail("b", signal)], "01_a")
    (there,) = clusters([fail("z", signal)], "02_b")
    assert here.members == ("a", "b")
    assert here.fingerprint == there.fingerprint == fingerprint_of(signal, "03_c")


def test_without_a_signal_all_failures_of_a_spec_are_one_cause() -> None:
    (found,) = clusters([fail("a"), fail("b")], "01_a")
    assert (found.members, found.signal) == (("a", "b"), None)
    assert found.fingerprint != fingerprint_of(None, "02_b")
    assert len(found.fingerprint) == 16


def test_another_command_or_another_error_is_another_cause() -> None:
    signals = [Signal("pytest", "x"), Signal("pytest", "y"), Signal("make", "x")]
    found = clusters([fail(str(n), signal) for n, signal in enumerate(signals)], "01_a")
    assert [cluster.members for cluster in found] == [("0",), ("1",), ("2",)]
    assert len({cluster.fingerprint for cluster in found}) == 3
