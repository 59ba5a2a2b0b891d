"""The Python API: every kind of input, vectors and their means, graphs, and the way to predictions."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ncc
from ncc import CompileOptions, EmbeddedModule
from ncc.errors import InputError, InputFileError, IRError
from tests.support.refuses import refuses

TESTS = Path(__file__).parent
IR = TESTS / "data" / "ir"
SOURCES = TESTS / "ir" / "frontend" / "sources"
KERNELS = TESTS / "samples" / "two_kernels.cl"


@pytest.fixture(scope="module")
def tree() -> EmbeddedModule:
    return ncc.embed(IR / "tree.clang22.ll")


def test_a_path_a_string_text_and_bytes_are_the_same_code(tree):
    path = IR / "tree.clang22.ll"
    for source in (str(path), path.read_text(), path.read_bytes()):
        assert np.array_equal(ncc.embed(source).statements, tree.statements)
    program = SOURCES / "dot.c"
    assert np.array_equal(ncc.embed(program.read_bytes(), language="c").statements, ncc.embed(program).statements)


def test_a_line_of_code_is_text_where_its_language_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line, options = "int f(int a) { return a + 1; }", CompileOptions(language="c")
    assert ncc.embed(line, options=options).num_statements == 3
    for path in (line, "f.inc"):
        with refuses(InputError, "no such file"):
            ncc.embed(path, options=None if path == line else options)
    Path(line).write_text("void g(void) {}")
    assert ncc.embed(line, options=options).module.function_names == ("g",)


def test_verbs_take_the_language_of_a_text():
    line = "int f(int a) { return a + 1; }"
    assert ncc.embed(line, language="c").num_statements == 3
    assert ncc.build_graph(line, language="c").module.num_statements == 3
    assert [found.num_statements for found in ncc.embed_many([line], language="c")] == [3]
    assert ncc.similarity(line, line, language="c") == 1
    options = CompileOptions(language="c", defines=("A=1",))
    assert ncc.embed("auto f() { return A; }", options=options, language="c++").module.function_names == ("_Z1fv",)


def test_a_file_of_another_extension_is_read_with_its_language(tmp_path):
    path = tmp_path / "kernel.inc"
    path.write_bytes(KERNELS.read_bytes())
    with refuses(InputError, "'.inc'", "extension", "name the language"):
        ncc.embed(path)
    assert ncc.embed(path, options=CompileOptions(language="opencl")).module.function_is_kernel.sum() == 2


def test_a_data_frame_has_a_row_a_vector(tree):
    frame = tree.to_dataframe()
    assert frame.shape == (tree.module.num_functions, tree.dim)
    assert tuple(frame.index) == tree.module.function_names
    assert frame.index.name == "function"
    assert np.array_equal(tree.to_dataframe("statement").to_numpy(), tree.statements)


def test_statements_are_named_by_function_index_and_line():
    code = ncc.embed(SOURCES / "dot.c", options=CompileOptions(debug_lines=True))
    index = code.to_dataframe("statement").index
    assert index.names == ["function", "index", "line", "statement"]
    function, number, _, text = index[code.module.function_start[1]]
    assert (function, number, text) == (
        code.module.function_names[1],
        0,
        code.module.statement_text(len(code.module.body(0)) + 1),
    )
    assert number == 0
    lines = (SOURCES / "dot.c").read_text().splitlines()
    assert all(0 <= line <= len(lines) for line in index.get_level_values("line"))
    assert max(index.get_level_values("line")) > 1
    assert list(code.columns("function")) == ["input", "label"]


def test_many_inputs_give_results_and_errors_in_order(tree, tmp_path):
    (tmp_path / "bad.ll").write_text("define no\n")
    sources = [IR / "tree.clang22.ll", tmp_path / "bad.ll", (IR / "tree.clang22.ll").read_text(), tmp_path / "none.ll"]
    for jobs in (1, 2):
        results = list(ncc.embed_many(iter(sources), jobs=jobs))
        assert [type(result) for result in results] == [EmbeddedModule, IRError, EmbeddedModule, InputFileError]
        for result in (results[0], results[2]):
            assert np.array_equal(result.vector, tree.vector)
            assert result.embedding is tree.embedding
        assert "none.ll: no such file" in str(results[3])
    for one in (tmp_path / "none.ll", str(tmp_path / "none.ll"), b"define void @f() {\n  ret void\n}\n"):
        assert len(list(ncc.embed_many(one))) == 1  # no list of letters


def test_an_encoder_is_given_as_an_object_or_a_folder_wherever_one_is_used(tmp_path):
    path = IR / "tree.clang22.ll"
    shipped = ncc.load_encoder()
    assert ncc.load_encoder(shipped) is shipped
    turned = replace(shipped, center=-shipped.center)
    turned.save(tmp_path / "encoder")
    vector = ncc.embed(path, encoder=turned).vector
    assert not np.array_equal(vector, ncc.embed(path).vector)
    for encoder in (turned, tmp_path / "encoder", str(tmp_path / "encoder")):
        assert np.array_equal(ncc.embed(path, encoder=encoder).vector, vector)
        assert np.array_equal(next(iter(ncc.embed_many([path], encoder=encoder))).vector, vector)
        assert np.array_equal(ncc.CodeVectorizer(encoder=encoder).fit_transform([path])[0], vector)
        assert ncc.similarity(path, vector, encoder=encoder) == pytest.approx(1)
    assert np.array_equal(ncc.embed(path, encoder=turned, embedding=ncc.load_embedding()).vector, vector)
    with refuses(InputError, "an encoder was passed", "pooling is 'mean'"):
        ncc.embed(path, encoder=turned, pooling="mean")
    with refuses(InputError, "the pooler has another encoder"):
        ncc.embed(path, encoder=turned, pooling=ncc.embed(path).pooler)


def test_names_of_cuda_are_demangled_for_people_and_kept_for_machines():
    source = b'extern "C++" __attribute__((global)) void add(float *a) { *a += 1; }\n'
    for answer in (ncc.predict_device(source, language="cuda")[0], ncc.predict_coarsening(source, language="cuda")[0]):
        assert answer.to_dict()["kernel"] == answer.kernel == "_Z3addPf"
        assert answer.to_dict()["demangled"] == "add(float*)"
        assert "add(float*)" in answer._repr_html_()


def test_a_file_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    path = tmp_path / "secret.c"
    path.write_text("int f(void) { return 1; }\n")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with refuses(InputError, "secret.c", "can't be read", "Permission denied"):
        ncc.embed(path)


def test_similarity_is_the_cosine_of_whatever_has_vectors(tree):
    path, other = IR / "tree.clang22.ll", ncc.embed(IR / "legacy.ll")
    cosine = tree.vector @ other.vector / np.linalg.norm(tree.vector) / np.linalg.norm(other.vector)
    for a in (path, path.read_text(), tree, tree.vector):
        assert ncc.similarity(a, other) == pytest.approx(cosine, abs=1e-6)
        assert ncc.similarity(a, tree) == pytest.approx(1)
    assert ncc.similarity(path, IR / "legacy.ll", pooling="mean") > cosine
    with refuses(InputError, "vectors of encoder-", "compared"):
        ncc.similarity(tree, ncc.embed(path, pooling="mean"))
    with refuses(InputError, "shapes (3,) and (256,)"):
        ncc.similarity(np.zeros(3), tree)


def test_results_show_themselves_in_a_short_line(tree):
    answer, _ = ncc.predict_device(KERNELS)
    curve, explanation = answer.curve(), answer.explain()
    heads = (ncc.load_device_head(), ncc.load_coarsening_head(), ncc.load_classifier())
    lookup, vocabulary = tree.lookup, tree.embedding.vocabulary
    graph = ncc.build_graph(IR / "tree.clang22.ll")
    for result in (tree, tree.module, tree.embedding, lookup, vocabulary, graph, curve, explanation, *heads):
        assert len(repr(result)) < 200, type(result)
        assert repr(result).startswith(f"{type(result).__name__.removeprefix('_Stored')}(")
        assert "\n" not in repr(result)
    assert repr(tree).endswith(" unknown)")
    assert repr(heads[0]).startswith("TimesHead('nvidia': CPU, GPU; ")


def test_sources_that_are_none_are_told_with_a_way_out():
    for source, kind, nouns in (
        ("int f(int x) {\n  return x; }\n", IRError, ("for source code", "name its language", "--language c")),
        ("", InputError, ("source is ''",)),
        (IR, InputError, ("folder",)),
        ("define void @f() { ret void }", InputError, ("no such file",)),
    ):
        with refuses(kind, *nouns):
            ncc.embed(source)
