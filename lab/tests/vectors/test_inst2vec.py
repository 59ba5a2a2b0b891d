"""Embeddings of other projects: inst2vec's pickles, which must run nothing, other formats, and typed pointers."""

import functools
import json
import os
import pickle
import re

import numpy as np
import pytest

from lab.tests.rooms import load_inst2vec, modernise_statement
from ncc.errors import AssetError
from tests.rooms import Abstraction

LOAD = "<%ID> = load i32, i32* <%ID>, align 4"
DICTIONARY = {"!UNK": 0, LOAD: 1, "ret void": 2, "store i8* <%ID>, i8** <%ID>, align 8": 3}
MATRIX = np.array([[0, 0, 2], [3, 0, 0], [0, 4, 0], [1, 1, 0]], np.float32)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "dic_pickle").write_bytes(pickle.dumps(DICTIONARY))
    (tmp_path / "emb.p").write_bytes(pickle.dumps(MATRIX))
    return tmp_path / "dic_pickle", tmp_path / "emb.p"


def test_published_pickles_become_an_embedding(files):
    embedding = load_inst2vec(*files)
    words = ("<%ID> = load i32, ptr <%ID>, align 4", "ret void", "store ptr <%ID>, ptr <%ID>, align 8", "<unknown>")
    assert embedding.vocabulary.words == words
    assert embedding.vocabulary.counts.tolist() == [1, 1, 1, 1]
    half = np.sqrt(0.5)
    assert embedding.vectors == pytest.approx(np.array([[1, 0, 0], [0, 1, 0], [half, half, 0], [0, 0, 1]]))
    assert embedding.abstraction == Abstraction.paper()
    assert embedding.about["num_published_words"] == 4
    assert embedding.vector("never heard of").tolist() == [0, 0, 1]


def test_statements_can_stay_as_they_were_published(files):
    assert load_inst2vec(*files, modernise=False).vocabulary.words[:2] == (LOAD, "ret void")


def test_of_words_that_become_the_same_the_first_row_is_kept(tmp_path):
    dictionary = {"<%ID> = load i8*, i8** <%ID>": 2, "<%ID> = load i32*, i32** <%ID>": 0, "ret void": 1}
    (tmp_path / "words.json").write_text(json.dumps(dictionary))
    np.save(tmp_path / "matrix.npy", np.eye(3))
    embedding = load_inst2vec(tmp_path / "words.json", tmp_path / "matrix.npy")
    assert embedding.vocabulary.words == ("<%ID> = load ptr, ptr <%ID>", "ret void", "<unknown>")
    assert embedding.vectors[:2].tolist() == [[1, 0, 0], [0, 1, 0]]
    assert embedding.about["num_words"] == 3


def test_without_an_unknown_token_the_mean_stands_for_it(tmp_path):
    (tmp_path / "words.json").write_text(json.dumps(["ret void", "unreachable"]))
    np.save(tmp_path / "matrix.npy", np.eye(2))
    embedding = load_inst2vec(tmp_path / "words.json", tmp_path / "matrix.npy")
    assert embedding.vocabulary.counts.tolist() == [1, 1, 0]
    assert embedding.vectors[2] == pytest.approx(np.sqrt([0.5, 0.5]))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_can_be_read(files, protocol):
    numbers = {text: np.int64(row) for text, row in DICTIONARY.items()}
    files[0].write_bytes(pickle.dumps(numbers, protocol=protocol))
    files[1].write_bytes(pickle.dumps(MATRIX, protocol=protocol))
    assert load_inst2vec(*files).vectors[1].tolist() == [0, 1, 0]


def test_pickles_of_an_old_numpy_can_be_read(files):
    data = pickle.dumps(MATRIX, protocol=2).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
    assert b"numpy.core.multiarray\n_reconstruct" in data
    # it wrote the switches of a type as 0 and 1, not False and True
    data, replaced = re.subn(rb"(?<=f4q.)\x89\x88", b"K\x00K\x01", data, flags=re.DOTALL)
    assert replaced == 1
    files[1].write_bytes(data)
    assert load_inst2vec(*files).vectors[1].tolist() == [0, 1, 0]


@pytest.mark.parametrize(("separator", "name"), [(",", "matrix.csv"), (" ", "matrix.txt"), ("\t", "matrix.txt")])
def test_text_files_can_be_read(tmp_path, separator, name):
    rows = "statement,row\n" + "\n".join(f'"{text}",{row}' for text, row in DICTIONARY.items())
    (tmp_path / "words.csv").write_text(rows)
    (tmp_path / name).write_text("\n".join(separator.join(map(str, row)) for row in MATRIX.tolist()) + "\n")
    embedding = load_inst2vec(tmp_path / "words.csv", tmp_path / name)
    assert embedding.vocabulary.words[1] == "ret void"
    assert embedding.vectors[1].tolist() == [0, 1, 0]


class Hostile:
    """Runs a command when it is unpickled."""

    def __init__(self, function, *arguments) -> None:
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize(
    ("function", "name"),
    [(os.system, "system"), (eval, "eval"), (exec, "exec"), (getattr, "getattr"), (np.load, "load"), (open, "open")],
)
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_pickle_that_calls_anything_is_refused(files, tmp_path, function, name, protocol):
    victim = tmp_path / "victim"
    hostile = pickle.dumps({"ret void": Hostile(function, f"touch {victim}")}, protocol=protocol)
    for path in files:
        original = path.read_bytes()
        path.write_bytes(hostile)
        with pytest.raises(
            AssetError, match=rf"{path.name}: is a pickle that calls \S+\.{name}, which could run any code"
        ):
            load_inst2vec(*files)
        path.write_bytes(original)
    assert not victim.exists()


@pytest.mark.parametrize(
    "data",
    [
        b"cbuiltins\neval\n(S'1'\ntR.",
        b"cos\nsystem\n(S'true'\ntR.",
        b"cnumpy\nndarray.tofile\n.",
        b"cnumpy.core.multiarray\nfromfile\n(S'/etc/passwd'\ntR.",
        b"\x80\x04\x8c\x05numpy\x8c\x0cndarray.dump\x93.",
        b"cncc.study.vectors\nload_inst2vec\n.",
    ],
)
def test_pickles_written_by_hand_are_refused(files, data):
    files[1].write_bytes(data)
    with pytest.raises(AssetError, match=r"emb\.p: is a pickle that calls "):
        load_inst2vec(*files)


@pytest.mark.parametrize(
    "function",
    ["numpy._core.numeric\n_frombuffer", "numpy.core.multiarray\n_reconstruct", "numpy\ndtype", "_codecs\nencode"],
)
def test_a_pickle_can_t_change_what_it_calls(files, function):
    files[1].write_bytes(b"c" + function.encode() + b"\n(N}S'__doc__'\nS'changed'\nstb.")
    with pytest.raises(AssetError, match=r"emb\.p: can't be read as pickle"):
        load_inst2vec(*files)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no pickle",
        pickle.dumps(MATRIX)[:-30],
        b"c_codecs\nencode\n(Vx\nVutf-7\ntR.",
        b"cnumpy\ndtype\n(S'nonsense'\ntR.",
        pickle.dumps(functools.reduce(lambda inner, _: [inner, inner], range(40), list[object]([1]))),
    ],
)
def test_damaged_pickles_are_refused(files, data):
    files[1].write_bytes(data)
    with pytest.raises(AssetError, match=r"emb\.p: can't be read as pickle \(.*expected a pickle or one of \.npy"):
        load_inst2vec(*files)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([1.0, 2.0], r"array of shape \(2,\); expected a matrix"),
        (np.zeros((0, 3)), r"array of shape \(0, 3\)"),
        ([["a", "b"]], "holds a list; expected a matrix of numbers"),
        ([[1.0], [1.0, 2.0]], "holds a list; expected a matrix of numbers"),
        ({"a": 1}, "holds a dict; expected a matrix of numbers"),
        (np.full((4, 2), np.nan), "not finite"),
        (np.full((4, 2), 1e300), "not finite"),
        (np.eye(3), r"dic_pickle: has row 3, but .*emb\.p has only 3 rows"),
    ],
)
def test_a_matrix_must_be_one(files, matrix, message):
    files[1].write_bytes(pickle.dumps(matrix))
    with pytest.raises(AssetError, match=message):
        load_inst2vec(*files)


@pytest.mark.parametrize(
    ("dictionary", "message"),
    [
        ({}, "holds a dict without entries; expected a dictionary"),
        ([], "holds a list without entries"),
        ([["ret void"]], "holds a list; expected a dictionary"),
        (7, "holds a int; expected a dictionary"),
        ({"ret void": -1}, r"has the entry 'ret void': -1; expected a statement and its row"),
        ({"ret void": 1.5}, r"has the entry 'ret void': 1\.5"),
        ({"ret void": "1"}, r"has the entry 'ret void': '1'"),
        ({1: 1}, "has the entry 1: 1"),
    ],
)
def test_a_dictionary_must_be_one(files, dictionary, message):
    files[0].write_bytes(pickle.dumps(dictionary))
    with pytest.raises(AssetError, match=rf"dic_pickle: {message}"):
        load_inst2vec(*files)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("words.json", "{", "can't be read as .json"),
        ("words.csv", "ret void,1,2", "a row of 3 columns where a statement, quoted, and its row number were expected"),
        ("words.csv", "ret void,1\nunreachable,x", "can't be read as .csv"),
    ],
)
def test_damaged_dictionaries_of_text_are_refused(files, tmp_path, name, data, message):
    (tmp_path / name).write_text(data)
    with pytest.raises(AssetError, match=message):
        load_inst2vec(tmp_path / name, files[1])


def test_an_array_of_objects_is_refused(files, tmp_path):
    np.save(tmp_path / "matrix.npy", np.array([[Hostile(os.system, "true")]], object), allow_pickle=True)
    with pytest.raises(AssetError, match=r"matrix\.npy: can't be read as \.npy .*allow_pickle"):
        load_inst2vec(files[0], tmp_path / "matrix.npy")


def test_missing_files_are_named(files, tmp_path):
    with pytest.raises(AssetError, match="nowhere: can't be read: No such file"):
        load_inst2vec(tmp_path / "nowhere", files[1])
    with pytest.raises(AssetError, match="nowhere: can't be read: No such file"):
        load_inst2vec(files[0], tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("published", "modern"),
    [
        ("ret void", "ret void"),
        ("<%ID> = mul nsw i32 <%ID>, <INT>", "<%ID> = mul nsw i32 <%ID>, <INT>"),
        (LOAD, "<%ID> = load i32, ptr <%ID>, align 4"),
        ("store i8** <%ID>, i8*** <%ID>, align 8", "store ptr <%ID>, ptr <%ID>, align 8"),
        ("<%ID> = load { i32, i8* }*, { i32, i8* }** <%ID>", "<%ID> = load ptr, ptr <%ID>"),
        ("<%ID> = load { i32, i8* }, { i32, i8* }* <%ID>", "<%ID> = load { i32, ptr }, ptr <%ID>"),
        ("<%ID> = alloca <{ i8, [7 x i8*] }>*, align 8", "<%ID> = alloca ptr, align 8"),
        ("<%ID> = bitcast [4 x <2 x double>*]* <%ID> to i8*", "<%ID> = bitcast ptr <%ID> to ptr"),
        ("<%ID> = load <4 x i32>, <4 x i32>* <%ID>, align 16", "<%ID> = load <4 x i32>, ptr <%ID>, align 16"),
        ("<%ID> = load <4 x i32*>, <4 x i32*>* <%ID>", "<%ID> = load <4 x ptr>, ptr <%ID>"),
        ("store i32 (i8*)* <@ID>, i32 (i8*)** <%ID>", "store ptr <@ID>, ptr <%ID>"),
        ("store void ({ i8* }*, ...)* <@ID>, i8* <%ID>", "store ptr <@ID>, ptr <%ID>"),
        ("store i8* (i8* (i32)*)* <@ID>, i8* <%ID>", "store ptr <@ID>, ptr <%ID>"),
        (
            "<%ID> = load float, float addrspace(1)* <%ID>, align 4",
            "<%ID> = load float, ptr addrspace(1) <%ID>, align 4",
        ),
        ("<%ID> = load i8 addrspace(3)*, i8 addrspace(3)** <%ID>", "<%ID> = load ptr addrspace(3), ptr <%ID>"),
        ("<%ID> = load i8*, i8* addrspace(3)* <%ID>", "<%ID> = load ptr, ptr addrspace(3) <%ID>"),
        ("<%ID> = load opaque*, opaque** <%ID>", "<%ID> = load ptr, ptr <%ID>"),
        ('<%ID> = load %"class.std::x"*, %"class.std::x"** <%ID>', "<%ID> = load ptr, ptr <%ID>"),
        ("<%ID> = call i32 (i8*, ...) <@ID>(i8* <@ID>)", "<%ID> = call i32 (ptr, ...) <@ID>(ptr <@ID>)"),
        ("<%ID> = extractelement <4 x float> <%ID>, <TYP> 0", "<%ID> = extractelement <4 x float> <%ID>, 0"),
        (
            "<%ID> = insertelement <4 x float> undef, float <%ID>, <TYP> 1",
            "<%ID> = insertelement <4 x float> undef, float <%ID>, 1",
        ),
        (
            "<%ID> = insertelement <2 x i8*> <%ID>, <TYP> <%ID>, <TYP> 1",
            "<%ID> = insertelement <2 x ptr> <%ID>, ptr <%ID>, 1",
        ),
        ("* no pointer", "* no pointer"),
        (")* unbalanced", ")* unbalanced"),
        ("}>* unbalanced", "}>* unbalanced"),
    ],
)
def test_typed_pointers_become_opaque(published, modern):
    assert modernise_statement(published) == modern
    assert modernise_statement(modern) == modern
