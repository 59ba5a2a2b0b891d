"""Vocabularies of others: inst2vec's pickles, JSON, CSV and NumPy files, IR2Vec's lines and JSON."""

import io
import json
import pickle
import random
from collections.abc import Sequence
from functools import cache

import numpy as np

from fuzz.folders import Files, mutate_files, pack, put, unpack
from fuzz.mutation import mutate_bytes
from fuzz.samples import small_embedding
from fuzz.targets import Target
from ncc.learning.embedding.vocabulary import Vocabulary
from ncc_lab.vectors.inst2vec import load_inst2vec
from ncc_lab.vectors.ir2vec import load_ir2vec

__all__ = ["TARGETS"]

_WORDS = (
    "<%ID> = load i32, i32* <%ID>, align 4",
    "store float <%ID>, float* <%ID>, align 4",
    "<%ID> = insertelement <4 x float> <%ID>, <TYP> <%ID>, <TYP> 1",
    "br label <LABEL>",
    "ret void",
    "!UNK",
)
# opcodes of pickle: calls, memo places, lengths, marks
_OPCODES = (
    b"\x80\x02 \x80\x05 \x93 R b c o i ( . 0 2 p q r g h j \x94 \x95\xff\xff\xff\xff\xff\xff\xff\x7f r\xff\xff\xff\xff"
    b" r\x00\x00\x00\x10 \x8e\xff\xff\xff\x7f\x00\x00\x00\x00 \x96\x00\x00\x00\x00\x01\x00\x00\x00 \x8a\x08 "
    b"\x8b\xff\xff\xff\x7f cnumpy\nndarray\n cnumpy\ndtype\n cos\nsystem\n cbuiltins\neval\n K\x01"
    b" J\xff\xff\xff\x7f \x85R \x86R"
).split(b" ")


def _tables() -> tuple[dict[str, int], np.ndarray]:
    rows = {word: row for row, word in enumerate(_WORDS)}
    return rows, np.random.default_rng(0).normal(size=(len(rows), 4)).astype(np.float32)


def _pickles() -> Sequence[Files]:
    rows, matrix = _tables()
    found: list[Files] = [
        {"dic.pickle": pickle.dumps(rows, protocol), "emb.p": pickle.dumps(matrix, protocol)}
        for protocol in (0, 2, 4, 5)
    ]
    return [*found, {"dic.pickle": pickle.dumps(list(rows), 2), "emb.p": pickle.dumps(matrix.tolist(), 2)}]


def _mutate_pickles(dice: random.Random, seeds: Sequence[Files]) -> bytes:
    files = dict(dice.choice(seeds))
    name = dice.choice(list(files))
    files[name] = mutate_bytes(dice, [files[name]], _OPCODES)
    return pack(files)


def _read_pickles(data: bytes) -> None:
    folder = put(unpack(data))
    _check(folder / "dic.pickle", folder / "emb.p")


def _check(dictionary: object, matrix: object) -> None:
    embedding = load_inst2vec(dictionary, matrix)  # type: ignore[arg-type]
    assert np.isfinite(embedding.vectors).all()
    embedding.look_up(["ret void", "unheard of"])


def _others() -> Sequence[Files]:
    rows, matrix = _tables()
    whole = io.BytesIO()
    np.save(whole, matrix)
    table = "statement,row\n" + "".join(f'"{word}",{row}\n' for word, row in rows.items())
    numbers = "\n".join(",".join(map(str, row)) for row in matrix.tolist())
    return [
        {
            "dic.json": json.dumps(rows).encode(),
            "emb.npy": whole.getvalue(),
            "dic.csv": table.encode(),
            "emb.csv": numbers.encode(),
        }
    ]


def _read_others(data: bytes) -> None:
    folder = put(unpack(data))
    kind = data[-1] % 2
    _check(folder / ("dic.json", "dic.csv")[kind], folder / ("emb.npy", "emb.csv")[kind])


def _vocabularies() -> Sequence[Files]:
    names = {
        "opcodes": ("Load", "Store", "Ret", "FMul"),
        "types": ("VoidTy", "IntegerTy", "PointerTy"),
        "arguments": ("Function", "Pointer", "Constant", "Variable"),
    }
    rng = np.random.default_rng(1)
    sections = {
        section.capitalize(): {name: rng.normal(size=3).round(4).tolist() for name in some}
        for section, some in names.items()
    }
    lines = "".join(
        f"{name}:[{', '.join(map(str, vector))}],\n" for some in sections.values() for name, vector in some.items()
    )
    flat = {name: vector for some in sections.values() for name, vector in some.items()}
    return [{"seeds.json": text} for text in (json.dumps(sections).encode(), json.dumps(flat).encode())] + [
        {"seeds.txt": lines.encode()}
    ]


@cache
def _vocabulary() -> Vocabulary:
    return small_embedding(min_count=8).vocabulary


def _read_vocabulary(data: bytes) -> None:
    files = unpack(data)
    embedding = load_ir2vec(put(files) / next(iter(files)), _vocabulary())
    assert np.isfinite(embedding.vectors).all()


TARGETS = (
    Target(name="inst2vec-pickle", seeds=_pickles, mutate=_mutate_pickles, run=_read_pickles, weight=6),
    Target(name="inst2vec", seeds=_others, mutate=mutate_files, run=_read_others, weight=5),
    Target(name="ir2vec", seeds=_vocabularies, mutate=mutate_files, run=_read_vocabulary, weight=5),
)
