"""inst2vec's published pickles: an embedding of ours, and nothing that a pickle names is run."""

import functools
import os
import pickle
import struct

import numpy as np
import pytest

from lab.tests.rooms import load_inst2vec, modernize_statement
from ncc.errors import AssetError
from tests.rooms import Abstraction
from tests.support.refuses import refuses
from tests.support.text import rows

LOAD = "<%ID> = load i32, i32* <%ID>, align 4"
DICTIONARY = {"!UNK": 0, LOAD: 1, "ret void": 2, "store i8* <%ID>, i8** <%ID>, align 8": 3}
MATRIX = np.array([[0, 0, 2], [3, 0, 0], [0, 4, 0], [1, 1, 0]], np.float32)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "dic_pickle").write_bytes(pickle.dumps(DICTIONARY))
    (tmp_path / "emb.p").write_bytes(pickle.dumps(MATRIX, protocol=4))
    return tmp_path / "dic_pickle", tmp_path / "emb.p"


def test_published_pickles_become_an_embedding(files):
    embedding = load_inst2vec(*files)
    words = ("<%ID> = load i32, ptr <%ID>, align 4", "ret void", "store ptr <%ID>, ptr <%ID>, align 8", "<unknown>")
    assert embedding.vocabulary.words == words
    assert embedding.vocabulary.counts.tolist() == [1, 1, 1, 1]
    half = np.sqrt(0.5)
    assert embedding.vectors == pytest.approx(np.array([[1, 0, 0], [0, 1, 0], [half, half, 0], [0, 0, 1]]))
    assert embedding.abstraction == Abstraction.paper()
    assert embedding.card["num_published_words"] == 4


@pytest.mark.parametrize("protocol", range(5))
def test_every_protocol_of_that_time_is_read(files, protocol):
    files[0].write_bytes(pickle.dumps(DICTIONARY, protocol=protocol))
    files[1].write_bytes(pickle.dumps(np.asfortranarray(MATRIX), protocol=protocol))
    assert load_inst2vec(*files).vectors[1].tolist() == [0, 1, 0]


class Hostile:
    """Runs a function when it is unpickled."""

    def __init__(self, function, *arguments) -> None:
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("function", [os.system, eval, exec, getattr, np.load, open])
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_pickle_that_calls_anything_is_refused(files, tmp_path, function, protocol):
    victim = tmp_path / "victim"
    hostile = pickle.dumps({"ret void": Hostile(function, f"touch {victim}")}, protocol=protocol)
    for path in files:
        original = path.read_bytes()
        path.write_bytes(hostile)
        with refuses(AssetError, path.name, f".{function.__name__}", "any code"):
            load_inst2vec(*files)
        path.write_bytes(original)
    assert not victim.exists()


# a dtype's state that NumPy takes unchecked
_STATE = b"\x80\x02cnumpy\ndtype\nU\x02f4K\x00K\x01\x87R(K\x03U\x01<%stb."


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no pickle",
        pickle.dumps(MATRIX, protocol=4)[:-30],
        b"cnumpy\nndarray.tofile\n.",
        b"cnumpy.core.multiarray\nfromfile\n(S'/etc/passwd'\ntR.",
        b"\x80\x04\x8c\x05numpy\x8c\x0cndarray.dump\x93.",
        b"cnumpy\ndtype\n(N}S'__doc__'\nS'changed'\nstb.",
        b"c_codecs\nencode\n(Vx\nVutf-7\ntR.",
        b"cnumpy\ndtype\n(S'nonsense'\ntR.",
        b"cnumpy\ndtype\n(S'O'\ntR.",
        b"cnumpy\ndtype\n(S'V2147483647'\ntR.",
        b"\x80\x02K\x01r\xff\xff\xff\x7f.",
        b"\x80\x05\x96" + struct.pack("<Q", 1 << 40) + b".",
        b"cnumpy\nndarray\n((I100000\nI100000\nttR.",
        _STATE % b"NJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00",
        _STATE % b"NNK\x01J\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00",
        pickle.dumps(MATRIX, protocol=2).replace(b"K\x04K\x03", b"J\xff\xff\xff\x7fK\x03"),
        b"(" * 200_000 + b"t" * 200_000 + b".",
        pickle.dumps(functools.reduce(lambda inner, _: [inner, inner], range(40), list[object]([1]))),
    ],
)
def test_damaged_pickles_are_refused(files, data):
    files[1].write_bytes(data)
    with refuses(AssetError, "emb.p") as refusal:
        load_inst2vec(*files)
    assert not isinstance(refusal.value.__cause__, MemoryError)


@pytest.mark.parametrize(
    ("matrix", "noun"),
    [
        (np.array([1.0, 2.0]), "(2,)"),
        (np.zeros((0, 3)), "(0, 3)"),
        ([[1.0], [2.0]], "found list"),
        (np.full((4, 2), np.nan), "not finite"),
        (np.full((4, 2), 1e300), "not finite"),
        (np.full((4, 2), 1e30), "too large to be squared"),
        (np.eye(3), "only 3 rows"),
    ],
)
def test_a_matrix_must_be_one(files, matrix, noun):
    files[1].write_bytes(pickle.dumps(matrix, protocol=4))
    with refuses(AssetError, noun):
        load_inst2vec(*files)


@pytest.mark.parametrize("dictionary", [{}, [], 7, {"a": -1}, {"a": 1.5}, {"a": "1"}, {"a": True}, {1: 1}])
def test_a_dictionary_must_be_one(files, dictionary):
    files[0].write_bytes(pickle.dumps(dictionary))
    with refuses(AssetError, "dic_pickle", "expected"):
        load_inst2vec(*files)


@pytest.mark.parametrize(("published", "modern"), rows("inst2vec.txt"))
def test_typed_pointers_become_opaque(published, modern):
    assert modernize_statement(published) == modern
    assert modernize_statement(modern) == modern
