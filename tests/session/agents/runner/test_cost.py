"""Whose number of a session's cost counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.session.agents.command_line import Facts
from agent_fox.session.agents.events import Event, Finished, Tokens, Used
from agent_fox.session.agents.prices import Prices, read_prices
from agent_fox.session.agents.report import CostSource
from agent_fox.session.agents.runner.cost import Spent, cost_of
from agent_fox.session.agents.runner.tally import Tally

ONE, TWO = Tokens(input=1_000_000), Tokens(input=2_000_000)


@pytest.fixture(scope="module")
def prices(tmp_path_factory: pytest.TempPathFactory) -> Prices:
    own: Path = tmp_path_factory.mktemp("prices") / "prices.toml"
    own.write_text(
        "[models]\nm = { input = 1, output = 10, long = { above = 2_500_000, input = 50, output = 50 } }\n"
        "n = { input = 3, output = 10 }\nlocal = { input = 0, output = 0 }\n"
    )
    return read_prices(own)


def facts(*, counts_resumed: bool = True) -> Facts:
    return Facts("x", "x", (1,), "", {}, counts_resumed=counts_resumed)


def heard(*events: Event) -> Tally:
    tally = Tally(lambda _: True)
    for event in events:
        tally.hear(event)
    return tally


def metered(*used: Used) -> dict[str, Used]:
    return {event.message: event for event in used}


def test_the_programs_own_number_wins_to_the_cent(prices: Prices) -> None:
    tally = heard(Used("a", ONE, "m"), Finished(cost_usd=0.123456789, tokens=TWO))
    spent = cost_of(tally, metered(Used("r", TWO, "m")), prices, facts())
    assert spent == Spent(0.123456789, CostSource.REPORTED, TWO)


def test_an_honest_zero_is_a_number(prices: Prices) -> None:
    assert cost_of(heard(Finished(cost_usd=0.0)), {}, prices, facts()).source is CostSource.REPORTED


def test_without_it_the_metered_requests_count_each_at_its_own_price(prices: Prices) -> None:
    tally = heard(Used("a", ONE, "m"))
    spent = cost_of(tally, metered(Used("r1", ONE, "m"), Used("r2", TWO, "n"), Used("r3", TWO, "m")), prices, facts())
    assert spent == Spent(1 + 6 + 2, CostSource.METERED, Tokens(input=5_000_000))


def test_without_a_proxy_the_streamed_messages_count_and_each_once(prices: Prices) -> None:
    tally = heard(Used("a", ONE, "m"), Used("a", TWO, "m"), Used("b", ONE, "n"), Used("b", ONE, "n"))
    assert cost_of(tally, {}, prices, facts()) == Spent(2 + 3, CostSource.PRICED, Tokens(input=3_000_000))


def test_a_total_counts_as_many_short_requests(prices: Prices) -> None:
    tally = heard(Used("a", ONE, "m"), Finished(tokens=Tokens(input=3_000_000), model="m"))
    assert cost_of(tally, {}, prices, facts()) == Spent(3, CostSource.PRICED, Tokens(input=3_000_000))


def test_one_unknown_model_makes_it_unknown_and_is_named(prices: Prices) -> None:
    requests = metered(Used("r1", ONE, "m"), Used("r2", ONE, "new"), Used("r3", ONE, ""))
    spent = cost_of(heard(), requests, prices, facts())
    assert spent == Spent(None, CostSource.UNKNOWN, Tokens(input=3_000_000), ("", "new"))


def test_nothing_heard_is_not_zero(prices: Prices) -> None:
    assert cost_of(heard(), {}, prices, facts()) == Spent(None, CostSource.UNKNOWN, None)


def test_a_resumed_sessions_number_holds_the_earlier_part_and_is_not_added_again(prices: Prices) -> None:
    tally = heard(Finished(cost_usd=1.0, tokens=ONE), Finished(cost_usd=1.25, tokens=TWO))
    assert cost_of(tally, {}, prices, facts()) == Spent(1.25, CostSource.REPORTED, TWO)


def test_where_each_process_counts_by_itself_they_are_added(prices: Prices) -> None:
    tally = heard(Finished(cost_usd=1.0, tokens=ONE), Finished(cost_usd=0.25, tokens=ONE))
    assert cost_of(tally, {}, prices, facts(counts_resumed=False)) == Spent(1.25, CostSource.REPORTED, TWO)


def test_a_killed_second_process_is_not_lost_behind_the_firsts_number(prices: Prices) -> None:
    tally = heard(Used("a", ONE, "m"), Finished(cost_usd=1.0), Used("b", ONE, "n"))
    tally.finished = None
    assert cost_of(tally, {}, prices, facts()) == Spent(4, CostSource.PRICED, TWO)
    requests = metered(Used("r1", ONE, "m"), Used("r2", TWO, "n"))
    assert cost_of(tally, requests, prices, facts()).cost_usd == 7


def test_a_local_model_at_price_zero_costs_nothing_whatever_its_program_makes_of_its_name(prices: Prices) -> None:
    tally = heard(Used("a", ONE, "local"), Finished(cost_usd=7.5, tokens=ONE))
    assert cost_of(tally, {}, prices, facts()) == Spent(0.0, CostSource.PRICED, ONE)
    assert cost_of(tally, metered(Used("r", TWO, "local")), prices, facts()) == Spent(0.0, CostSource.METERED, TWO)


def test_a_free_model_beside_a_paid_one_makes_nothing_free(prices: Prices) -> None:
    both = metered(Used("r", ONE, "local"), Used("s", ONE, "n"))
    assert cost_of(heard(), both, prices, facts()).cost_usd == 3.0
