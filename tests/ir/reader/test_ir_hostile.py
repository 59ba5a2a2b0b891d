"""Input that is made to break readers: depth, size, damaged bitcode, noise, and two thousand mutations."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from fuzz.targets.ir import mutate_ir
from ncc.errors import IRError, NccError
from tests.rooms import Module, read_module
from tests.support.refuses import refuses

IR = Path(__file__).parents[2] / "data" / "ir"
TEXTS = sorted(IR.glob("*.ll"))
BITCODES = sorted(IR.glob("*.bc"))


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


@pytest.mark.parametrize("byte", [b"x", b"@", b"%", b'"', b"!", b"(", b"}", b"\\", b";x\n@", b"\xff", b"%a = type {"])
def test_a_megabyte_of_garbage(byte: bytes) -> None:
    for data in (byte * 1_000_000, function("ret void") + byte * 200_000, function(byte.decode("latin-1") * 100_000)):
        if data.startswith(b"define") and data.endswith(b'"""'):
            continue  # LLVM takes these for attributes of the declaration before
        with pytest.raises(NccError) as caught:
            read_module(data[:1_000_000])
        assert len(str(caught.value)) < 1000


def test_bytes_that_end_anywhere(check_module: Callable[[Module], None]) -> None:
    for path in TEXTS:
        data = path.read_bytes()
        for end in range(1, len(data), 1 + len(data) // 40):
            read_or_refuse(data[:end], check_module)


@pytest.mark.parametrize("path", BITCODES, ids=lambda path: path.name)
def test_truncated_bitcode(path: Path, check_module: Callable[[Module], None]) -> None:
    data = path.read_bytes()
    lengths = {*range(0, 40), *range(40, len(data), 61), len(data) - 1, len(data) - 4}
    refused = sum(not read_or_refuse(data[:length], check_module) for length in sorted(lengths))
    assert refused > len(lengths) / 2


def test_noise(check_module: Callable[[Module], None]) -> None:
    noise = random.Random(5)
    for i in range(300):
        data = noise.randbytes(noise.randrange(1, 3000))
        read_or_refuse(data if i % 3 else data.replace(b"\0", b" "), check_module)


def read_or_refuse(data: bytes, check_module: Callable[[Module], None]) -> bool:
    """Reads and checks; any error but an NccError is let through to fail the test."""
    try:
        module = read_module(data)
    except NccError as error:
        assert str(error)
        return False
    check_module(module)
    return True


@pytest.mark.parametrize("seed", range(8))
def test_mutations_of_real_modules(seed: int, check_module: Callable[[Module], None]) -> None:
    """2,000 in all: each is read into a module that holds together, or refused with an error of ours."""
    dice = random.Random(seed)
    seeds = [path.read_bytes() for path in TEXTS]
    read = sum(read_or_refuse(mutate_ir(dice, seeds), check_module) for _ in range(250))
    assert 10 < read < 250
