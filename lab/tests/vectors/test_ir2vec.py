"""IR2Vec's seed embeddings: both file formats, and what they add up to for statements."""

import json

import numpy as np
import pytest

from lab.tests.rooms import load_ir2vec, operand_kinds, result_type
from ncc.errors import AssetError
from tests.rooms import OPCODES, Vocabulary, load_embedding, normalised

ADD = "<%ID> = add nsw i32 <%ID>, <INT>"
STORE = "store float <%ID>, ptr <%ID>, align 4"
COMPARE = "<%ID> = icmp slt i32 <%ID>, <%ID>"
SWAP = "<%ID> = cmpxchg ptr <%ID>, i32 <%ID>, i32 <%ID> seq_cst seq_cst, align 4"
HEADER = "define void <@ID>(ptr <%ID>)"
WORDS = (ADD, STORE, COMPARE, SWAP, HEADER, "add", "<unknown>")
VOCABULARY = Vocabulary(WORDS, np.array([5, 4, 3, 2, 1, 0, 0]))

NAMES = ("add", "store", "icmp", "integerTy", "voidTy", "pointer", "constant", "variable")
UNIT = dict(zip(NAMES, np.eye(len(NAMES)).tolist(), strict=True))
EXPECTED = np.array(
    [
        [1, 0, 0, 0.5, 0, 0, 0.2, 0.2],
        [0, 1, 0, 0, 0.5, 0.2, 0, 0.2],
        [0, 0, 1, 0.5, 0, 0, 0, 0.4],
        [0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0],
    ],
    np.float32,
)


def test_lines_of_text_add_up_to_statements(tmp_path):
    path = tmp_path / "seeds.txt"
    path.write_text("\n".join(f"{name}:{numbers}," for name, numbers in UNIT.items()) + "\n")
    embedding = load_ir2vec(path, VOCABULARY)
    assert embedding.vectors == pytest.approx(normalised(EXPECTED))
    assert embedding.vocabulary is VOCABULARY
    assert embedding.about == {"source": "IR2Vec (seeds.txt)", "num_words": 7, "num_words_without_opcode": 3}


SECTIONS = {
    "Opcodes": {"Add": [1, 0], "Store": [0, 0], "ICmp": [0, 0], "AtomicCmpXchg": [0, 3]},
    "Types": {"IntegerTy": [0, 0], "VoidTy": [0, 0], "StructTy": [4, 0]},
    "Arguments": {"Function": [0, 0], "Pointer": [0, 0], "Constant": [0, 2], "Variable": [5, 0], "ICMP_slt": [0, 10]},
}


def test_sections_of_json_add_up_to_statements(tmp_path):
    path = tmp_path / "vocabulary.json"
    path.write_text(json.dumps(SECTIONS))
    expected = [[1 + 1, 0.4], [1, 0], [2, 2], [2 + 2, 3], [0, 0], [1, 0], [0, 0]]
    assert load_ir2vec(path, VOCABULARY).vectors == pytest.approx(normalised(np.array(expected, np.float32)))


def test_json_without_sections_is_sorted_by_names(tmp_path):
    path = tmp_path / "flat.json"
    path.write_text(json.dumps(UNIT))
    assert load_ir2vec(path, VOCABULARY).vectors == pytest.approx(normalised(EXPECTED))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "vectors of lengths none"),
        ("add:[1, 2]\nsub:[1]\n", "vectors of lengths 1, 2; expected one length for all"),
        ("add:[]\n", "vectors of lengths 0"),
        ("add:[1, 2]\n\nadd is 3\n", r"seeds:3: expected 'name:\[numbers\]', found 'add is 3'"),
        ("add:[1, x]\n", "add of opcodes is not a list of numbers"),
        ("add:[1, nan]\n", "add of opcodes is not a list of finite numbers"),
        ("{", "not JSON"),
        ('{"Opcodes": {"Add": [1]}}', "lacks the sections types, arguments"),
        ('{"Opcodes": {"Add": [1]}, "Types": [], "Arguments": {}}', "lacks the sections types"),
        ('{"Opcodes": {"Add": [[1]]}, "Types": {}, "Arguments": {}}', "Add of opcodes is not a list of finite numbers"),
        ('{"Opcodes": {"Add": {"x": 1}}, "Types": {}, "Arguments": {}}', "Add of opcodes is not a list of numbers"),
    ],
)
def test_damaged_files_are_refused(tmp_path, text, message):
    path = tmp_path / "seeds"
    path.write_text(text)
    with pytest.raises(AssetError, match=message) as refusal:
        load_ir2vec(path, VOCABULARY)
    assert str(path) in str(refusal.value)


def test_files_that_can_t_be_read_are_named(tmp_path):
    with pytest.raises(AssetError, match="nowhere: can't be read: No such file"):
        load_ir2vec(tmp_path / "nowhere", VOCABULARY)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(AssetError, match="bytes: not text"):
        load_ir2vec(tmp_path / "bytes", VOCABULARY)


@pytest.mark.parametrize(
    ("text", "result", "operands"),
    [
        (ADD, "integerty", "variable constant"),
        (STORE, "voidty", "variable pointer"),
        (COMPARE, "integerty", "variable variable icmp_slt"),
        ("<%ID> = icmp samesign ult <4 x i32> <%ID>, <INT>", "vectorty", "variable constant icmp_ult"),
        ("<%ID> = icmp eq ptr <%ID>, null", "integerty", "pointer pointer icmp_eq"),
        ("<%ID> = fcmp fast une float <%ID>, <FLOAT>", "integerty", "variable constant fcmp_une"),
        ("<%ID> = load ptr, ptr addrspace(1) <%ID>, align 8", "pointerty", "pointer"),
        ("<%ID> = load atomic volatile i64, ptr <@ID> seq_cst, align 8", "integerty", "pointer"),
        ("<%ID> = alloca [4 x i32], align 16", "pointerty", "constant"),
        ("<%ID> = alloca i32, i64 <%ID>, align 4", "pointerty", "variable"),
        ("<%ID> = getelementptr nuw i8, ptr <%ID>, i64 <INT>, i32 <INT>", "pointerty", "pointer constant constant"),
        ("<%ID> = zext nneg i8 <%ID> to <2 x i32>", "vectorty", "variable"),
        ("<%ID> = inttoptr i64 <%ID> to ptr", "pointerty", "variable"),
        ("<%ID> = select i1 <%ID>, ptr <%ID>, ptr null", "pointerty", "variable pointer pointer"),
        ("<%ID> = phi ptr [ <%ID>, <LABEL> ], [ null, <LABEL> ]", "pointerty", "pointer pointer"),
        ("<%ID> = extractelement <4 x float> <%ID>, 2", "floatty", "variable constant"),
        ("<%ID> = extractelement <4 x i8> <%ID>, i64 <%ID>", "integerty", "variable variable"),
        ("<%ID> = insertelement <4 x ptr> poison, ptr <%ID>, 0", "vectorty", "constant pointer constant"),
        ("<%ID> = shufflevector <2 x i8> <%ID>, <2 x i8> poison, <2 x i32> <INT>", "vectorty", "variable constant"),
        ("<%ID> = extractvalue { ptr, { i32, float } } <%ID>, 1, 1", "floatty", "variable"),
        ("<%ID> = extractvalue [2 x { i8, ptr }] <%ID>, 1, 1", "pointerty", "variable"),
        ("<%ID> = extractvalue { ptr } <%ID>, 4", "unknownty", "variable"),
        ("<%ID> = insertvalue { ptr, i32 } <%ID>, i32 <%ID>, 1", "structty", "variable variable"),
        ("tail call void <@ID>(ptr <%ID>, i32 <INT>)", "voidty", "function pointer constant"),
        ("<%ID> = call fast double @llvm.pow(double <%ID>, double <FLOAT>)", "floatty", "function variable constant"),
        ("<%ID> = call i32 <%ID>(ptr <@ID>)", "integerty", "pointer pointer"),
        ("invoke void <@ID>() to label <LABEL> unwind label <LABEL>", "voidty", "function variable variable"),
        ("<%ID> = landingpad { ptr, i32 } catch ptr null", "structty", "pointer"),
        ("<%ID> = atomicrmw add ptr <%ID>, i32 <INT> monotonic, align 4", "integerty", "pointer constant"),
        (SWAP, "structty", "pointer variable variable"),
        ("<%ID> = va_arg ptr <%ID>, double", "floatty", "pointer"),
        ("br i1 <%ID>, label <LABEL>, label <LABEL>", "voidty", "variable variable variable"),
        ("switch i8 <%ID>, label <LABEL> [ i8 <INT>, label <LABEL> ]", "voidty", "variable variable constant variable"),
        ("ret ptr null", "voidty", "pointer"),
        ("unreachable", "voidty", ""),
        ("<%ID> = add int <%ID>, <INT>", "integerty", "variable constant"),
        ("<%ID> = fadd vector of fp <%ID>, <%ID>", "vectorty", "variable variable"),
        ("<%ID> = extractelement vector of fp <%ID>, N", "floatty", "variable constant"),
        ("<%ID> = extractvalue struct <%ID>, N", "unknownty", "variable"),
        ("store vector of ptr <%ID>, ptr <%ID>", "voidty", "variable pointer"),
        ("call @strcmp …", "unknownty", "function"),
        ("add …", "unknownty", ""),
        ("alloca", "pointerty", ""),
    ],
)  # fmt: skip
def test_results_and_operands_are_of_these_kinds(text, result, operands):
    assert result_type(text) == result
    assert list(operand_kinds(text)) == operands.split()


def test_every_word_of_the_shipped_vocabulary_gets_a_vector(tmp_path):
    names = [*OPCODES, "integerTy", "floatTy", "pointerTy", "vectorTy", "pointer", "constant", "variable", "function"]
    numbers = np.random.default_rng(0).normal(size=(len(names), 8)).round(4).tolist()
    path = tmp_path / "seeds.txt"
    path.write_text("\n".join(f"{name}:{vector}" for name, vector in zip(names, numbers, strict=True)))
    embedding = load_ir2vec(path, load_embedding().vocabulary)
    assert embedding.about["num_words_without_opcode"] == 1
    assert np.linalg.norm(embedding.vectors[:-1], axis=1) == pytest.approx(1, abs=1e-5)
