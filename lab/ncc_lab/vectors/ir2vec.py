"""Reads IR2Vec's seed embeddings as an embedding of statements: the sum of opcode, type and operand vectors.

Reference: VenkataKeerthy et al. 2020 (TACO 17:4), section 4: the symbolic encoding of an instruction.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ncc.arrays import Floats32
from ncc.errors import AssetError
from ncc.ir.reader.abstraction import Abstraction
from ncc.learning.embedding.backoff import opcode_of
from ncc.learning.embedding.embedding import Embedding, normalised
from ncc.learning.embedding.vocabulary import Vocabulary
from ncc_lab.vectors.entities import operand_kinds, result_type

_OPCODE_WEIGHT, _TYPE_WEIGHT, ARGUMENT_WEIGHT = 1.0, 0.5, 0.2

_LARGEST = 1e15
"""Of a number, so that sums and squares of vectors are finite too."""

_LINE = re.compile(r'\s*"?(?P<name>\w+)"?\s*:\s*\[(?P<numbers>[^\[\]]*)\],?\s*')
_SECTIONS = ("opcodes", "types", "arguments")
_ARGUMENTS = frozenset({"function", "pointer", "constant", "variable"})
_OTHER_NAMES = {"cmpxchg": "atomiccmpxchg", "va_arg": "vaarg"}


def load_ir2vec(
    path: str | os.PathLike[str], vocabulary: Vocabulary, *, abstraction: Abstraction | None = None
) -> Embedding:
    """Reads IR2Vec's vocabulary and gives every word of ours the vector that IR2Vec gives such an instruction.

    That is 1 × its opcode + 0.5 × the type of its result + 0.2 × each operand's kind (function, pointer, constant or
    variable). What the file lacks adds nothing; so function headers, which are not instructions, get zeros.

    Args:
        path: ``name:[numbers]`` lines as IR2Vec ships them, or LLVM's JSON of the sections Opcodes, Types and
            Arguments; JSON without sections is read too.
        vocabulary: The words to give vectors to; its counts stay.
        abstraction: Of the vocabulary's statements.

    Raises:
        AssetError: The file is missing or damaged, holds something else, or its vectors differ in length.

    Reference: VenkataKeerthy et al. 2020, section 4.
    """
    path = Path(path)
    seeds = read_seeds(path)
    vectors = np.stack([compose_statement(text, seeds) for text in vocabulary.words])
    about = {
        "source": f"IR2Vec ({path.name})",
        "num_words": len(vocabulary),
        "num_words_without_opcode": sum(seeds.opcode(opcode_of(text)) is None for text in vocabulary.words),
    }
    return Embedding(vocabulary, normalised(vectors), abstraction or Abstraction(), about)


@dataclass(frozen=True, eq=False)
class Seeds:
    """Vectors of entities by their names in lower case, one dictionary a section."""

    dim: int
    opcodes: Mapping[str, Floats32]
    types: Mapping[str, Floats32]
    arguments: Mapping[str, Floats32]

    def opcode(self, name: str) -> Floats32 | None:
        """Vector of an opcode by its name in LLVM, or None."""
        found = self.opcodes.get(name)
        return self.opcodes.get(_OTHER_NAMES.get(name, "")) if found is None else found


def read_seeds(path: Path) -> Seeds:
    """Reads a vocabulary, as `load_ir2vec` says.

    Raises:
        AssetError: As for `load_ir2vec`.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise AssetError(f"{path}: can't be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise AssetError(f"{path}: not text ({error}); expected IR2Vec's vocabulary") from error
    sections = _from_json(path, text) if text.lstrip().startswith("{") else _sorted_out(_from_lines(path, text))
    read = {section: _checked(path, section, entries) for section, entries in sections.items()}
    lengths = {len(vector) for entries in read.values() for vector in entries.values()}
    if len(lengths) != 1 or 0 in lengths:
        found = ", ".join(map(str, sorted(lengths))) or "none"
        raise AssetError(f"{path}: vectors of lengths {found}; expected one length for all")
    return Seeds(lengths.pop(), read["opcodes"], read["types"], read["arguments"])


def _from_lines(path: Path, text: str) -> dict[str, Any]:
    entries = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            found = _LINE.fullmatch(line)
            if not found:
                raise AssetError(f"{path}:{number}: expected 'name:[numbers]', found {line[:40]!r}")
            entries[found["name"]] = [part for part in found["numbers"].split(",") if part.strip()]
    return entries


def _from_json(path: Path, text: str) -> dict[str, dict[str, Any]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AssetError(f"{path}: not JSON ({error}); the file is damaged") from error
    lowered = {name.lower(): entries for name, entries in found.items()}
    if not any(section in lowered for section in _SECTIONS):
        return _sorted_out(found)
    wrong = [section for section in _SECTIONS if not isinstance(lowered.get(section), dict)]
    if wrong:
        raise AssetError(f"{path}: lacks the sections {', '.join(wrong)}; expected Opcodes, Types and Arguments")
    return {section: lowered[section] for section in _SECTIONS}


def _sorted_out(entries: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Entries without sections, put into sections by their names."""
    sections: dict[str, dict[str, Any]] = {section: {} for section in _SECTIONS}
    for name, numbers in entries.items():
        is_argument = name.lower() in _ARGUMENTS
        section = "arguments" if is_argument else "types" if name.lower().endswith("ty") else "opcodes"
        sections[section][name] = numbers
    return sections


def _checked(path: Path, section: str, entries: Mapping[str, Any]) -> dict[str, Floats32]:
    vectors = {}
    for name, numbers in entries.items():
        try:
            with np.errstate(over="ignore"):  # too large is not finite, which is said below
                vector = np.array(numbers).astype(np.float32)
        except (TypeError, ValueError, OverflowError) as error:
            raise AssetError(f"{path}: {name:.80} of {section} is not a list of numbers ({error})") from error
        if vector.ndim != 1 or not (np.abs(vector) < _LARGEST).all():
            raise AssetError(f"{path}: {name:.80} of {section} is not a list of finite numbers")
        vectors[name.lower()] = vector
    return vectors


def compose_statement(text: str, seeds: Seeds) -> Floats32:
    """The symbolic encoding of an abstracted statement, (dim,) float32, not normalised."""
    vector = np.zeros(seeds.dim, np.float32)
    seed = seeds.opcode(opcode_of(text))
    if seed is None:
        return vector
    vector += _OPCODE_WEIGHT * seed
    type_seed = seeds.types.get(result_type(text))
    if type_seed is not None:
        vector += _TYPE_WEIGHT * type_seed
    for kind in operand_kinds(text):
        argument_seed = seeds.arguments.get(kind)
        if argument_seed is not None:
            vector += ARGUMENT_WEIGHT * argument_seed
    return vector
