from __future__ import annotations

import pytest

from exoscaler.core.model import Taint, TaintEffect, Toleration, TolerationOperator

_EXISTS, _EQUAL = TolerationOperator.EXISTS, TolerationOperator.EQUAL
_TAINT = Taint("gpu", TaintEffect.NO_SCHEDULE, "yes")


@pytest.mark.parametrize(
    ("toleration", "tolerates"),
    [  # R204
        (Toleration("gpu", _EQUAL, "yes"), True),
        (Toleration("gpu", _EQUAL, "no"), False),
        (Toleration("gpu", _EQUAL, ""), False),
        (Toleration("gpu", _EXISTS), True),
        (Toleration("other", _EXISTS), False),
        (Toleration("", _EXISTS), True),
        (Toleration("", _EQUAL, "yes"), False),
        (Toleration("gpu", _EXISTS, effect=TaintEffect.NO_SCHEDULE), True),
        (Toleration("gpu", _EXISTS, effect=TaintEffect.NO_EXECUTE), False),
        (Toleration("", _EXISTS, effect=TaintEffect.NO_EXECUTE), False),
        (Toleration("gpu", TolerationOperator.GT, "1"), False),
        (Toleration("gpu", TolerationOperator.LT, "1"), False),
    ],
)
def test_a_toleration_tolerates_what_the_api_says(toleration: Toleration, tolerates: bool) -> None:
    assert toleration.tolerates(_TAINT) is tolerates


def test_only_a_preference_does_not_repel() -> None:
    repelling = {effect for effect in TaintEffect if Taint("a", effect).repels}

    assert repelling == {TaintEffect.NO_SCHEDULE, TaintEffect.NO_EXECUTE}  # R204
