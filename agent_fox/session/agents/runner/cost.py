"""What a session cost, from whoever knows best: the program itself, the metering proxy, or its own stream of events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.session.agents.events import Tokens, Used
from agent_fox.session.agents.prices import Prices, price, price_of_sum
from agent_fox.session.agents.report import CostSource

if TYPE_CHECKING:
    from agent_fox.session.agents.command_line import Facts
    from agent_fox.session.agents.runner.tally import Tally

FAR, UNTOLD_USD = 20.0, 0.05
"""How far listed prices may lie above what a program tells: so many times as much, and dollars. Prices differ; a number
that was forged to be small differs more.
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """Cost in US dollars, None where unknown, and its source. `unpriced` names the models without a listed price."""

    cost_usd: float | None = None
    source: CostSource = CostSource.UNKNOWN
    tokens: Tokens | None = None
    unpriced: tuple[str, ...] = ()


def cost_of(tally: Tally, metered: Mapping[str, Used], prices: Prices, facts: Facts) -> Spent:
    """The program's own number where it told one; else metered tokens, else its streamed ones, at listed prices.

    While a process runs, or where it was killed, its own number is not there, and that of an earlier process would
    leave something out; one that ended with an error leaves out the request that broke off. Whatever a session starts
    can print in the program's name: a number that is far below what the proxy has counted is not believed. One model
    without a price makes the whole cost unknown; models that are listed as free cost nothing, whatever a program tells.
    May be called while another thread hears further events.
    """
    requests, messages = list(metered.values()), list(tally.used.values())
    reported = tally.reported_cost(counts_resumed=facts.counts_resumed)
    reported_tokens = tally.reported_tokens(counts_resumed=facts.counts_resumed)
    has_ended = tally.finished is not None
    counted = _priced(requests, CostSource.METERED, prices) if requests else Spent()
    listed = [prices.find(model) for model in {event.model for event in requests or messages}]
    if listed and all(rates is not None and rates.is_free for rates in listed):
        return Spent(0.0, CostSource.METERED if requests else CostSource.PRICED, sum_of(requests or messages))
    is_told = reported is not None and (has_ended or not (requests or messages))
    is_cut = tally.finished is not None and tally.finished.is_error and (counted.cost_usd or 0.0) > (reported or 0.0)
    is_forged = (counted.cost_usd or 0.0) > FAR * (reported or 0.0) + UNTOLD_USD
    if is_told and not is_cut and not is_forged:
        return Spent(reported, CostSource.REPORTED, reported_tokens or sum_of(messages) or sum_of(requests))
    if requests:
        return counted
    if reported_tokens is not None and has_ended and reported_tokens != sum_of(messages):
        cost = price_of_sum(tally.model, reported_tokens, prices)
        if cost is None:
            return Spent(None, CostSource.UNKNOWN, reported_tokens, (tally.model,))
        return Spent(cost, CostSource.PRICED, reported_tokens)
    return _priced(messages, CostSource.PRICED, prices) if messages else Spent()


def metered_usd(metered: Mapping[str, Used], prices: Prices) -> float | None:
    """What the proxy has counted, at listed prices; None where it counted nothing, or a price is missing."""
    requests = list(metered.values())
    return _priced(requests, CostSource.METERED, prices).cost_usd if requests else None


def sum_of(used: Iterable[Used]) -> Tokens | None:
    """All their tokens, None where there are none."""
    counts = [event.tokens for event in used]
    return sum(counts, Tokens()) if counts else None


def _priced(used: list[Used], source: CostSource, prices: Prices) -> Spent:
    costs = [(event.model, price(event.model, event.tokens, prices)) for event in used]
    unpriced = tuple(sorted({model for model, cost in costs if cost is None}))
    if unpriced:
        return Spent(None, CostSource.UNKNOWN, sum_of(used), unpriced)
    return Spent(sum(cost for _, cost in costs if cost is not None), source, sum_of(used))
