"""Programs of a folder of folders, found by their vectors: every method, and the classes asked for."""

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


@pytest.fixture
def world(tiny, monkeypatch):
    tiny.use(monkeypatch)
    return tiny


@pytest.mark.parametrize("model", ["encoder", "lstm_encoder"])
def test_an_encoder_is_measured_on_programs_of_the_classes_that_it_learned(world, model):
    options = {"embedding": world.embedding, "programs": world.cache}
    found = ncc_lab.evaluate_retrieval(world.sources, method=["ncc, this*"], encoder=getattr(world, model), **options)
    (result,) = found.results
    assert len(result.rows) == 8
    assert found.value(result.method, "map_at_r") > (0.4 if model == "encoder" else 0)  # of four steps
    other = ncc.load_embedding()
    if model == "lstm_encoder":
        with refuses(InputError, "embedding"):
            ncc.embed(world.programs / "bits" / "0.ll", encoder=world.lstm_encoder, embedding=other)


def test_a_linear_encoder_learns_classes_anew(world, tmp_path):
    config = ncc.EncoderTraining(min_df=2, dim=8)
    options = {"programs": world.sources, "classes": "bits,sums", "config": config, "cache": world.cache}
    first = ncc.load_encoder(world.encoder)
    second = ncc.train_encoder(tmp_path / "second", functions_from=first, per_class=3, **options)
    assert (first.num_classes, second.num_classes, second.card["programs"]) == (1, 1, 6)
    assert np.array_equal(first.pattern_ids, second.pattern_ids)
    assert first.fingerprint != second.fingerprint
    for wrong in (
        {},
        {"functions": world.functions, "functions_from": first},
        {"functions_from": first, "config": ncc.EncoderTraining(model="lstm")},
    ):
        with refuses(InputError, "expected one of the two"):
            ncc.train_encoder(tmp_path / "third", **(options | wrong))
