from __future__ import annotations

import pytest

from exoscaler.core.model import Taint, TaintEffect, Toleration, TolerationOperator
from exoscaler.core.reasons import Obstacle, WhyNot
from exoscaler.core.scheduling import Place, taints
from tests.builders import make_node, make_pod, taint

_TOLERATES_A = Toleration("a", TolerationOperator.EXISTS)


@pytest.mark.parametrize(
    ("on_node", "tolerations", "subject"),
    [  # R204
        ([], [], None),
        ([taint("a")], [], "a:NoSchedule"),
        ([taint("a", "x", TaintEffect.NO_EXECUTE)], [], "a=x:NoExecute"),
        ([taint("a", effect=TaintEffect.PREFER_NO_SCHEDULE)], [], None),
        ([taint("a")], [_TOLERATES_A], None),
        ([taint("a"), taint("b", "1"), taint("c")], [_TOLERATES_A], "b=1:NoSchedule"),
        ([taint("a"), taint("b")], [Toleration(operator=TolerationOperator.EXISTS)], None),
        # The mark of a removal candidate is a preference and never keeps a pod away.
        ([taint("DeletionCandidateOfClusterAutoscaler", "1", TaintEffect.PREFER_NO_SCHEDULE)], [], None),
    ],
)
def test_the_first_taint_that_is_not_tolerated_keeps_the_pod_away(
    on_node: list[Taint], tolerations: list[Toleration], subject: str | None
) -> None:
    reasons = taints.why_not(make_pod(tolerations=tolerations), Place.of(make_node(taints=on_node)))

    assert reasons == (() if subject is None else (WhyNot(Obstacle.TAINT, subject),))
