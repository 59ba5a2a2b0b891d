"""Mutations: the same for a seed, of the same format for the most part, and different enough."""

from pathlib import Path

import pytest

from fuzz.targets import all_targets, find_target
from fuzz.targets.models import saved


@pytest.mark.parametrize("name", [target.name for target in all_targets()])
def test_an_input_follows_from_seed_and_number(name: str) -> None:
    target = find_target(name)
    first = [target.input(7, number) for number in range(20)]
    assert [target.input(7, number) for number in range(20)] == first
    assert target.planted or len(set(first)) > 12
    assert [target.input(8, number) for number in range(20)] != first


def test_names_of_targets_are_distinct_and_the_planted_come_last() -> None:
    targets = all_targets()
    assert len({target.name for target in targets}) == len(targets) > 20
    assert [target.planted for target in targets] == sorted(target.planted for target in targets)
    with pytest.raises(KeyError, match="nothing"):
        find_target("nothing")

    def write(folder: Path) -> None:
        (folder / "x").write_bytes(b"y")

    assert saved(write) == {"x": b"y"}
