from __future__ import annotations

import pytest

from exoscaler.core.model import LabelSelector, Operator, Requirement

_LABELS = {"zone": "gva", "cores": "16", "bad": "1_6", "empty": ""}


@pytest.mark.parametrize(
    ("key", "operator", "values", "matches"),
    [  # R206
        ("zone", Operator.IN, ("muc", "gva"), True),
        ("zone", Operator.IN, ("muc",), False),
        ("zone", Operator.IN, (), False),
        ("none", Operator.IN, ("",), False),
        ("empty", Operator.IN, ("",), True),
        ("zone", Operator.NOT_IN, ("muc",), True),
        ("zone", Operator.NOT_IN, ("gva",), False),
        ("none", Operator.NOT_IN, ("gva",), True),
        ("empty", Operator.EXISTS, (), True),
        ("none", Operator.EXISTS, (), False),
        ("none", Operator.DOES_NOT_EXIST, (), True),
        ("zone", Operator.DOES_NOT_EXIST, (), False),
        ("cores", Operator.GT, ("15",), True),
        ("cores", Operator.GT, ("16",), False),
        ("cores", Operator.LT, ("17",), True),
        ("cores", Operator.LT, ("16",), False),
        ("cores", Operator.LT, ("-1",), False),
        ("none", Operator.GT, ("0",), False),
        ("none", Operator.LT, ("99",), False),
        ("zone", Operator.GT, ("0",), False),
        ("bad", Operator.GT, ("0",), False),
        ("cores", Operator.GT, ("1_0",), False),
        ("cores", Operator.GT, ("1", "2"), False),
        ("cores", Operator.LT, ("99999999999999999999",), False),
        ("cores", Operator.LT, ("9223372036854775808",), False),
        ("cores", Operator.LT, ("9223372036854775807",), True),
    ],
)
def test_a_requirement_compares_as_the_scheduler_does(
    key: str, operator: Operator, values: tuple[str, ...], matches: bool
) -> None:
    assert Requirement(key, operator, values).matches(_LABELS) is matches


def test_a_selector_needs_every_requirement_and_an_empty_one_needs_nothing() -> None:
    zone = Requirement("zone", Operator.IN, ("gva",))
    other = Requirement("other", Operator.EXISTS)

    assert LabelSelector((zone,)).matches(_LABELS)
    assert not LabelSelector((zone, other)).matches(_LABELS)
    assert LabelSelector().matches({})
