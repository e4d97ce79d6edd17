"""Budgets over a whole round: no disruption is counted on twice (R122)."""

from __future__ import annotations

from exoscaler.core.scaledown.budgets import BudgetLedger
from tests.builders import make_budget, make_pod

WEB = {"app": "web"}
ONE, TWO, THREE = (make_pod(f"web-{i}", node="n", labels=WEB) for i in range(3))


def test_evictions_that_fit_jointly_are_allowed() -> None:
    assert BudgetLedger([make_budget(labels=WEB, allowed=2)]).shortage([ONE, TWO]) is None


def test_evictions_that_fit_one_by_one_but_not_jointly_are_not() -> None:  # stricter than R122
    shortage = BudgetLedger([make_budget("calm", labels=WEB, allowed=2)]).shortage([THREE, ONE, TWO])
    assert shortage is not None
    assert shortage.text == "default/web-2: budget calm allows 2 disruptions now, 3 are needed"


def test_what_one_removal_takes_is_gone_for_the_next() -> None:  # R122, K6
    budgets = BudgetLedger([make_budget(labels=WEB, allowed=1)])
    budgets.spend([ONE])
    shortage = budgets.shortage([TWO])
    assert shortage is not None
    assert (shortage.pod, shortage.needed) == (TWO, 1)


def test_asking_takes_nothing() -> None:
    budgets = BudgetLedger([make_budget(labels=WEB, allowed=1)])
    assert budgets.shortage([ONE]) is None
    assert budgets.shortage([TWO]) is None


def test_more_may_be_taken_than_there_is_but_never_given_back() -> None:
    budget = make_budget(labels=WEB, allowed=1)
    budgets = BudgetLedger([budget])
    budgets.spend([ONE, TWO, THREE])
    assert budgets.left(budget) == -2
    shortage = budgets.shortage([ONE])
    assert shortage is not None
    assert "allows 0 disruptions now" in shortage.text


def test_pods_of_other_budgets_are_not_counted() -> None:
    budgets = BudgetLedger([make_budget("web", labels=WEB, allowed=1), make_budget("db", labels={"app": "db"})])
    others = [make_pod("db", node="n", labels={"app": "db"}), make_pod("free", node="n")]
    assert budgets.shortage([ONE, *others]) is None


def test_budgets_of_one_name_in_two_namespaces_are_two() -> None:
    here, there = make_budget(allowed=1), make_budget(namespace="other", allowed=1)
    budgets = BudgetLedger([here, there])
    budgets.spend([ONE])
    assert (budgets.left(here), budgets.left(there)) == (0, 1)
    assert budgets.covering(make_pod(namespace="other")) == (there,)


def test_pod_that_is_leaving_uses_no_budget() -> None:
    leaving = make_pod("leaving", node="n", labels=WEB, deleted_ago=-10)
    budgets = BudgetLedger([make_budget(labels=WEB, allowed=1)])
    budgets.spend([leaving])
    assert budgets.shortage([ONE, leaving]) is None
