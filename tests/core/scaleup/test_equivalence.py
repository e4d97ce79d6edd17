from __future__ import annotations

from exoscaler.core.scaleup.equivalence import classes_of
from tests.builders import make_pod


def test_pods_alike_are_one_class_whoever_owns_them() -> None:
    pods = [make_pod(f"p{i}", owner=f"rs-{i}") for i in range(3)]

    assert [alike.pods for alike in classes_of(pods)] == [tuple(pods)]


def test_classes_and_their_pods_keep_the_order_given() -> None:
    small, large = [make_pod(f"s{i}") for i in range(2)], [make_pod(f"l{i}", cpu="2") for i in range(2)]
    classes = classes_of([large[0], small[0], large[1], small[1]])

    assert [alike.pods for alike in classes] == [tuple(large), tuple(small)]
    assert [alike.exemplar for alike in classes] == [large[0], small[0]]


def test_there_is_no_class_without_pods() -> None:
    assert classes_of([]) == ()
