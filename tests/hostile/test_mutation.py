"""Mutations: the same for a seed, of the same format for the most part, and different enough."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.numpy import load, save

from fuzz.folders import mutate_files, pack, put, unpack
from fuzz.json_mutation import mutate_json
from fuzz.mutation import mutate_bytes
from fuzz.targets import all_targets, find_target
from fuzz.targets.models import saved
from fuzz.tensor_mutation import mutate_tensors

CARD = json.dumps({"format_version": 2, "words": ["a", "b"], "terms": [{"length": 0.5, "weights": {}}]}).encode()
TENSORS = save({"vectors": np.eye(3, dtype=np.float16), "row": np.arange(4, dtype=np.int32)})


def test_bytes_stay_near_their_seeds_and_follow_from_the_dice() -> None:
    seeds = [bytes(range(97, 123)) * 20, b"0123456789\n" * 30]
    one, other = ([mutate_bytes(random.Random(seed), seeds, [b"TOKEN"]) for seed in range(300)] for _ in range(2))
    assert one == other
    assert len(set(one)) > 250
    assert any(b"TOKEN" in data for data in one)
    assert max(map(len, one)) < 3_000


def test_nothing_can_be_mutated() -> None:
    assert all(isinstance(mutate_bytes(random.Random(seed), [b""]), bytes) for seed in range(300))


def test_json_is_json_for_the_most_part_and_never_as_it_was() -> None:
    whole, kinds = 0, set()
    for seed in range(400):
        data = mutate_json(random.Random(seed), CARD)
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            continue
        whole += found != json.loads(CARD)
        kinds.add(
            type(found["format_version"]).__name__ if isinstance(found, dict) and "format_version" in found else ""
        )
    assert whole > 250
    assert {"int", "float", "str", "list", ""} <= kinds
    again = [mutate_json(random.Random(seed), CARD) for seed in range(2)]
    assert again == [mutate_json(random.Random(seed), CARD) for seed in range(2)]  # what was parsed is not changed


def test_tensors_are_whole_for_the_most_part() -> None:
    refused, types = 0, set()
    for seed in range(400):
        data = mutate_tensors(random.Random(seed), TENSORS)
        try:
            types |= {str(array.dtype) for array in load(data).values()}
        except (SafetensorError, AttributeError, KeyError, ValueError, TypeError):
            refused += 1
    assert 40 < refused < 250
    assert {"float16", "int32", "float64", "int64", "bool"} <= types


def test_folders_are_packed_whole(tmp_path) -> None:
    files = {"head.json": CARD, "a/b.safetensors": TENSORS, "empty": b""}
    assert unpack(pack(files)) == files
    assert unpack(b"") == {}
    folder = put(files, tmp_path)
    put({"empty": b"full"}, folder)
    assert (folder / "a" / "b.safetensors").read_bytes() == TENSORS
    assert (folder / "empty").read_bytes() == b"full"
    mutants = [unpack(mutate_files(random.Random(seed), [files])) for seed in range(50)]
    assert {tuple(mutant) for mutant in mutants} == {tuple(files)}
    assert all(mutant != files for mutant in mutants if mutant["head.json"] != CARD)


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
