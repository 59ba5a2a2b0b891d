"""Programs of a folder of folders, found by their vectors: every method, and the classes asked for."""

import json
from functools import partial

import numpy as np
import pytest

import ncc
import ncc_lab
from lab.tests.rooms import all_representations, compare_retrieval
from ncc.errors import InputError
from tests.rooms import CachingCompiler, CompileOptions, choose_classes, find_labelled_files, load_embedding
from tests.support.refuses import refuses

NAMES = [one.name for one in all_representations(load_embedding())]


@pytest.fixture(scope="module")
def found(classes, samples, cache):
    files, embedding = find_labelled_files(classes), load_embedding()
    compiler = CachingCompiler.below(cache)
    readers = [partial(compiler.program_ir, options=CompileOptions(optimization=one)) for one in samples.variants]
    return compare_retrieval(files, samples, all_representations(embedding), readers, rerank=True)


def test_every_method_finds_matrix_products_by_matrix_products(found):
    plain = {one.method: one.scores[""]["map_at_r"] for one in found.results if "re-ranked" not in one.method}
    assert list(plain) == [name for name in NAMES if name in plain]
    assert len(found.results) == 2 * len(plain)
    assert all(0 < score.low <= score.value <= score.high <= 1 for score in plain.values())
    assert plain["TF-IDF bag of statements"].value > 0.6  # chance is a half


def test_figures_are_for_machines_and_people(found):
    figures = json.loads(json.dumps(found.to_dict()))
    (protocol,) = figures["protocols"].values()
    row = protocol["methods"]["opcode histogram"]
    assert row["map_at_r"] == found.value("opcode histogram", "map_at_r")
    assert row["num_samples"] == 40
    assert protocol["num_classes"] == 2
    assert "★" in found.to_text()
    assert "opcode histogram" in found.to_page({"command": "ncc evaluate retrieval"})


def test_programs_that_do_not_compile_count_as_misses(classes, cache, tmp_path):
    folder = tmp_path / "programs"
    for name in ("gemm", "stencil"):
        (folder / name).mkdir(parents=True)
        for path in sorted((classes / name).iterdir())[:6]:
            (folder / name / path.name).write_bytes(path.read_bytes())
    (folder / "gemm" / "broken.c").write_text("int f( {")
    found = ncc_lab.evaluate_retrieval(folder, method=["opcode*"], programs=cache)
    (result,) = found.results
    assert list(result.task.notes["failures"]) == [str(folder / "gemm" / "broken.c")]
    assert len(result.rows) == 13
    assert (result.predicted[0] == 0).all(axis=1).sum() == 1


def test_classes_are_chosen_by_names_and_ranges(tmp_path):
    for name in ("1", "2", "3", "10", "sort-list"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.c").write_text("int x;")
    files = find_labelled_files(tmp_path)
    assert choose_classes(files, "2-10").classes == ("2", "3", "10")
    some = choose_classes(files, "sort-list, 1")
    assert some.classes == ("1", "sort-list")
    assert [some.classes[number] for number in some.label] == ["1", "sort-list"]
    assert len(some.paths) == 2
    for wanted, noun in (("7-9", "7-9"), ("sort", "sort"), ("3", "two or more"), ("", "unknown")):
        with refuses(InputError, noun):
            choose_classes(files, wanted)


def test_a_method_that_there_is_not_is_refused_before_anything_is_compiled(classes, cache):
    with refuses(InputError, "no method 'word2vec'"):
        ncc_lab.evaluate_retrieval(classes, programs=cache, method=["word2vec"])


def test_a_linear_encoder_learns_classes_anew(classes, cache, tmp_path):
    (tmp_path / "some.c").write_text(
        "\n".join(
            f"int f{i}(int *a, int n) {{ int s = {i}; while (n--) s {operator}= a[n] + {i // 4}; return s; }}"
            for i, operator in enumerate("+-*&|^/%" * 2)
        )
    )
    options = {
        "programs": classes,
        "classes": "gemm,stencil",
        "config": ncc.EncoderTraining(min_df=2, dim=8),
        "cache": cache,
    }
    (tmp_path / "some.toml").write_text(
        f'name = "some"\n[[source]]\nname = "some"\nfolder = "{tmp_path}"\npatterns = ["*.c"]\n'
        'optimization = ["-O0", "-O1", "-O2", "-O3", "-Os"]\n'
    )
    first = ncc.train_encoder(tmp_path / "first", functions=tmp_path / "some.toml", **options)
    second = ncc.train_encoder(tmp_path / "second", functions_from=tmp_path / "first", per_class=6, **options)
    assert (first.num_classes, second.num_classes, second.card["programs"]) == (1, 1, 12)
    assert np.array_equal(first.pattern_ids, second.pattern_ids)
    assert first.fingerprint != second.fingerprint
    found = ncc_lab.evaluate_retrieval(classes, method=["ncc, this*"], encoder=second, programs=cache)
    assert found.value(found.results[0].method, "map_at_r") > 0.8
    for wrong in (
        {},
        {"functions": tmp_path, "functions_from": first},
        {"functions_from": first, "config": ncc.EncoderTraining(model="lstm")},
    ):
        with refuses(InputError, "expected one of the two"):
            ncc.train_encoder(tmp_path / "third", **(options | wrong))


def test_an_lstm_that_was_trained_by_contrast_is_measured(classes, cache, tmp_path):
    (tmp_path / "some.c").write_text(
        "int sum(int *a, int n) { int s = 0; while (n--) s += a[n]; return s; }\n"
        "int most(int *a, int n) { int m = a[0]; while (n--) if (a[n] > m) m = a[n]; return m; }\n"
    )
    (tmp_path / "some.toml").write_text(
        f'name = "some"\n[[source]]\nname = "some"\nfolder = "{tmp_path}"\npatterns = ["*.c"]\n'
        'optimization = ["-O0", "-O1", "-Os"]\n'
    )
    config = ncc.EncoderTraining(model="lstm", epochs=2, steps_per_epoch=8, batch_size=8, hidden=8, dim=16)
    told: list[str] = []
    encoder = ncc.train_encoder(
        tmp_path / "encoder",
        programs=classes,
        classes="gemm,stencil",
        functions=tmp_path / "some.toml",
        config=config,
        per_class=6,
        cache=cache,
        progress=told.append,
    )
    assert encoder.dim == 16
    assert len(encoder.card["losses"]) == 2
    assert [line.split(":")[0] for line in told if line.startswith("epoch")] == ["epoch 1", "epoch 2"]
    assert sorted(path.name for path in (tmp_path / "encoder").iterdir()) == ["lstm.json", "lstm.safetensors"]
    found = ncc_lab.evaluate_retrieval(
        classes, per_class=6, method=["ncc, this*"], encoder=tmp_path / "encoder", programs=cache
    )
    (result,) = found.results
    assert len(result.rows) == 12
    assert found.value(result.method, "map_at_r") > 0.6  # chance is 5 of 11
    read = ncc.load_encoder(tmp_path / "encoder")
    assert read.fingerprint == encoder.fingerprint
    vectors = ncc.embed(tmp_path / "some.c", encoder=encoder)
    assert vectors.functions.shape == (2, 16)
    kept = ncc.embed(tmp_path / "some.c", encoder=tmp_path / "encoder")
    np.testing.assert_allclose(kept.vector, vectors.vector, atol=1e-3)  # of halves
    assert np.array_equal(ncc.embed(tmp_path / "some.c", encoder=read).vector, kept.vector)
    np.testing.assert_allclose(np.linalg.norm(vectors.functions, axis=1), 1, rtol=1e-5)
    with refuses(InputError, "embedding"):
        embedding = ncc.load_embedding()
        other = ncc.Embedding(embedding.vocabulary, embedding.vectors[:, ::-1], embedding.abstraction)
        ncc.embed(tmp_path / "some.c", encoder=encoder, embedding=other)
