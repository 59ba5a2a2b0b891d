"""Natural loops of small functions whose loops are known."""

import pytest

from ncc.errors import InputError
from tests.rooms import Module, find_loops, read_module
from tests.support.refuses import refuses
from tests.support.text import cases


def function(blocks: str) -> Module:
    """A function of two numbers; every line is a block, "name: instruction; instruction"."""
    lines = []
    for block in filter(None, map(str.strip, blocks.splitlines())):
        name, _, body = block.partition(":")
        lines += [f"{name}:", *(f"  {instruction.strip()}" for instruction in body.split(";"))]
    text = "\n".join(lines)
    return read_module(f"define void @f(i32 %n, i1 %c) {{\n{text}\n}}\n".encode())


def loops(blocks: str) -> dict[str, tuple[str, int | None]]:
    """Name of each loop's header → names of its blocks in order, and how often it runs."""
    module = function(blocks)

    def name(block: int) -> str:
        return module.node_name(int(module.basic_block_label[block]))

    return {
        name(loop.header): (" ".join(name(block) for block in sorted(loop.blocks)), loop.trip_count)
        for loop in find_loops(module, 0)
    }


@pytest.mark.parametrize(("blocks", "expected"), cases("loops.txt"))
def test_natural_loops(blocks: str, expected: str) -> None:
    found = (f"{header}: {names}" + f" ({trips})" * bool(trips) for header, (names, trips) in loops(blocks).items())
    assert [*found] == expected.strip().splitlines()


@pytest.mark.parametrize(
    ("comparison", "trips"),
    [
        ("icmp eq i32 %next, 64", 64),
        ("icmp slt i32 %next, -16", 16),
        ("icmp ult i32 %next, %n", None),
        ("icmp eq i32 %next, 1", None),
        ("icmp eq i32 %next, 99999999999", 2**30),
        ("and i1 %c, %c", None),
        ("icmp eq i32 %next, 12, !dbg !0", 12),
    ],
)
def test_trips_are_what_the_counter_is_compared_with(comparison: str, trips: int | None) -> None:
    counted = f"""
    entry: br label %body
    body: %i = phi i32 [ 0, %entry ], [ %next, %body ]; %next = add i32 %i, 77; %end = {comparison}; br i1 %end, label %exit, label %body
    exit: ret void
    """  # noqa: E501
    assert loops(counted) == {"body": ("body", trips)}


def test_a_long_chain_of_loops() -> None:
    blocks = ["entry: br label %b0"]
    blocks += [f"b{i}: br i1 %c, label %b{i}, label %b{i + 1}" for i in range(5000)]
    module = function("\n".join([*blocks, "b5000: ret void"]))
    assert [loop.blocks for loop in find_loops(module, 0)] == [{i + 1} for i in range(5000)]


@pytest.mark.timeout(60)
def test_many_ways_back_to_one_header() -> None:
    """Each way back was once walked on its own: half the square of their number in steps."""
    number = 12_000
    blocks = "\n".join(f"b{i}: br i1 %c, label %h, label %b{i + 1}" for i in range(number))
    (loop,) = find_loops(function(f"e: br label %h\nh: br label %b0\n{blocks}\nb{number}: ret void"), 0)
    assert len(loop.blocks) == number + 1


def test_loops_nested_without_end_and_more_blocks_than_anybody_writes_are_refused() -> None:
    number = 3_000
    down = "\n".join(f"h{i}: br label %h{i + 1}" for i in range(number))
    up = "\n".join(f"l{i}: br i1 %c, label %h{i}, label %l{i - 1}" for i in range(number - 1, 0, -1))
    ends = f"h{number}: br label %l{number - 1}\n{up}\nl0: br i1 %c, label %h0, label %x\nx: ret void"
    with refuses(InputError, "nested", "200 deep"):
        find_loops(function(f"e: br label %h0\n{down}\n{ends}"), 0)
    blocks = "\n".join(f"b{i}: br label %b{i + 1}" for i in range(20_001))
    with refuses(InputError, "20,003 blocks", "20,000"):
        find_loops(function(f"e: br label %b0\n{blocks}\nb20001: ret void"), 0)
