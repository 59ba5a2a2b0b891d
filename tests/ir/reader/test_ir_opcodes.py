"""The opcode numbers of Python are those of the C enumeration, and the package's names are what they should be."""

import re
from pathlib import Path

import pytest

import ncc
from tests.rooms import OPCODES, opcode_number


def test_opcodes_stand_in_the_order_of_the_header() -> None:
    header = (Path(ncc.__file__).parent / "ir" / "native" / "reader.h").read_text()
    macro = header[header.index("#define OPCODES(X)") :].split("\n\n")[0]
    assert tuple(re.findall(r"\bX\((\w+)\)", macro)) == OPCODES


def test_opcode_numbers() -> None:
    assert opcode_number("define") == 0
    assert OPCODES[opcode_number("getelementptr")] == "getelementptr"
    assert len(set(OPCODES)) == len(OPCODES)
    with pytest.raises(ValueError, match="not in tuple"):
        opcode_number("frobnicate")
