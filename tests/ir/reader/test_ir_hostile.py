"""Input that is made to break readers: depth, size, damaged bitcode, noise, and two thousand mutations."""

from pathlib import Path

import pytest

from ncc.errors import IRError
from tests.rooms import read_module
from tests.support.refuses import refuses

IR = Path(__file__).parents[2] / "data" / "ir"


def function(line: str) -> bytes:
    return f"define void @f(i32 %n) {{\n  {line}\n  ret void\n}}\ndeclare void @g(metadata)\n".encode()


@pytest.mark.parametrize("depth", [10_000, 100_000])
@pytest.mark.parametrize("bracket", ["[", "{", "<", "<{", "[1 x ", "<2 x ", "{ i8, "])
def test_types_nested_without_end(bracket: str, depth: int) -> None:
    with pytest.raises(IRError):
        read_module(function(f"%x = alloca {bracket * depth}"))


@pytest.mark.parametrize(
    ("opening", "closing"), [("[1 x ", "]"), ("{ ", " }"), ("<{ ", " }>")], ids=["array", "struct", "packed"]
)
def test_types_nested_deep(opening: str, closing: str) -> None:
    depth = 10_000
    with refuses(IRError, "types nested too deep"):
        read_module(function(f"%x = alloca {opening * depth}i8{closing * depth}"))
    module = read_module(function(f"%x = alloca {opening * 60}i8{closing * 60}"))
    assert module.num_statements == 3


def test_structures_nested_deep_by_name() -> None:
    types = "".join(f"%s{i} = type {{ %s{i + 1} }}\n" for i in range(10_000)) + "%s10000 = type { i8 }\n"
    with refuses(IRError, "types nested too deep"):
        read_module(types.encode() + function("%x = alloca %s0"))


def test_constants_nested_deep() -> None:
    # the direct reader skips what stands in a constant without recursion: LLVM isn't asked
    module = read_module(function("store i32 " + "add (i32 " * 10_000 + "1" + ", i32 1)" * 10_000 + ", ptr null"))
    assert module.statement_text(1) == "store i32 <INT>, ptr null"
    with pytest.raises(IRError):
        read_module(function("store i32 " + "add (i32 " * 10_000))
    with pytest.raises(IRError):
        read_module(function("store i32 1" + ")" * 10_000))


def test_words_repeated_without_end() -> None:
    for word in ("metadata ", "noundef ", "tail ", "nsw ", "label ", "inrange ", "cleanup ", "asm "):
        with pytest.raises(IRError):
            read_module(function("call void @g(" + word * 200_000 + ")"))
