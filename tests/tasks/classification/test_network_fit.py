"""Networks on programs: batches are what they should be, and what is there to be learnt is learnt."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ncc.errors import InputError
from tests.rooms import (
    EncoderNetwork,
    NetworkMethod,
    NetworkTraining,
    TrainingConfig,
    encode_programs,
    load_embedding,
    paper_training,
    program_data,
    program_encoder,
    program_head,
)

SIZES, HEAD = program_encoder(hidden=8, buckets=64), program_head(dense=16)
SMALL = NetworkTraining(
    encoder=SIZES, head=HEAD, min_steps=1, loop=TrainingConfig(epochs=16, batch_size=8, learning_rate=5e-3)
)


@pytest.fixture(scope="module")
def embedding():
    return load_embedding()


def test_another_way_of_cutting_batches_is_refused():
    with pytest.raises(InputError, match="cut is 'words'; expected one of samples, tokens"):
        replace(SMALL, cut="words")


def test_a_batch_holds_each_program_from_its_beginning(samples, embedding):
    table = samples.views["-O1"]
    programs = encode_programs(table, embedding, 64)
    rows = np.array([3, 0, 30])
    batch = programs.batch(rows)
    assert batch.lengths.tolist() == np.diff(table.start)[rows].tolist()
    words = embedding.look_up(table.texts).word
    ends = [*batch.literal_start.tolist()[1:], len(batch.literals)]
    for place, row in enumerate(rows.tolist()):
        begin, end = table.start[row], table.start[row + 1]
        assert batch.words[place, : end - begin].tolist() == words[table.text_id[begin:end]].tolist()
        for step in range(int(end - begin)):
            bag = place * batch.words.shape[1] + step
            expected = table.literal[table.literal_start[begin + step] : table.literal_start[begin + step + 1]] % 64
            assert batch.literals[batch.literal_start[bag] : ends[bag]].tolist() == expected.tolist()


def test_programs_of_several_levels_stand_side_by_side(samples, embedding):
    views = [encode_programs(table, embedding, 64) for table in samples.views.values()]
    data = program_data(views, samples.label, np.arange(len(samples)))
    network = EncoderNetwork(embedding.vectors, 2, SIZES, HEAD).eval()
    rng = np.random.default_rng(0)
    drawn = set()
    with torch.inference_mode():
        for rows in data.batches(7, rng):
            inputs, target = data.batch(rows, rng)
            together = network(*inputs)
            assert target.tolist() == samples.label[rows].tolist()
            for place, row in enumerate(rows.tolist()):
                level = int(data._drawn[row]) // len(samples)
                alone = network(*views[level].batch(np.array([row])))[0]
                assert torch.allclose(together[place], alone, atol=1e-5)
                drawn.add((level, row))
    assert len(drawn) == len(samples)
    assert {level for level, _ in drawn} == {0, 1}


@pytest.mark.parametrize(
    "training",
    [
        pytest.param(SMALL, id="usual"),
        pytest.param(replace(SMALL, encoder=replace(SIZES, buckets=0)), id="no-literals", marks=pytest.mark.full),
        pytest.param(replace(SMALL, pretrained=False), id="not-pretrained", marks=pytest.mark.full),
        pytest.param(replace(SMALL, encoder=replace(SIZES, train_vectors=False)), id="kept", marks=pytest.mark.full),
        pytest.param(replace(SMALL, encoder=replace(SIZES, layers=2)), id="two-layers", marks=pytest.mark.full),
    ],
)
def test_it_learns_what_two_kinds_of_programs_are(samples, embedding, training):
    test = np.arange(len(samples)) % 4 == 0
    losses = []
    method = NetworkMethod(embedding, training, progress=lambda _epoch, loss: losses.append(loss))
    hidden = samples.without_answers(np.flatnonzero(test))
    method.fit(hidden, np.flatnonzero(~test), np.random.default_rng(0))
    found = method.predict(hidden, np.flatnonzero(test))
    assert found.shape == (test.sum(), 2)
    assert found.sum(axis=1) == pytest.approx(1)
    assert (found.argmax(axis=1) == samples.label[test]).mean() >= 0.8
    assert losses[-1] < losses[0]


def test_the_scores_of_a_programs_levels_are_averaged(samples, embedding):
    method = NetworkMethod(embedding, SMALL)
    with pytest.raises(InputError, match="fit the method"):
        method.predict(samples, np.arange(3))
    with pytest.raises(InputError, match="fit the method"):
        method.scores(samples, "-O1", np.arange(3))
    method.training = replace(SMALL, loop=replace(SMALL.loop, epochs=1))
    method.fit(samples, np.arange(0, len(samples), 2), np.random.default_rng(0))
    rows = np.array([5, 2, 31])
    levels = [method.scores(samples, level, rows) for level in ("-O1", "-O0")]
    assert np.abs(levels[0] - levels[1]).max() > 1e-3
    expected = torch.from_numpy((levels[0] + levels[1]) / 2).softmax(dim=1).numpy()
    assert method.predict(samples, rows) == pytest.approx(expected, abs=1e-12)
    for level, scores in zip(("-O1", "-O0"), levels, strict=True):
        alone = replace(samples, views={level: samples.views[level]})
        assert method.predict(alone, rows) == pytest.approx(torch.from_numpy(scores).softmax(dim=1).numpy())


def test_only_words_in_use_have_vectors_of_their_own(samples, embedding):
    method = NetworkMethod(embedding, replace(SMALL, loop=replace(SMALL.loop, epochs=1, learning_rate=1e-30)))
    one_level = replace(samples, views={"-O1": samples.views["-O1"]})
    method.fit(one_level, np.arange(0, len(samples), 2), np.random.default_rng(0))
    vectors = method.to_network().vectors
    table = samples.views["-O1"].rows(np.arange(0, len(samples), 2))
    assert method.row is not None
    words = np.unique(embedding.look_up(table.texts).word[np.unique(table.text_id)])
    assert len(vectors) == len(words)
    assert np.array_equal(vectors[method.row[words]], embedding.vectors[words])
    other = np.setdiff1d(np.arange(len(embedding.vectors)), words)[:50]
    best = (embedding.vectors[other] @ embedding.vectors[words].T).max(axis=1)
    assert np.einsum("ij,ij->i", embedding.vectors[other], vectors[method.row[other]]) == pytest.approx(best, abs=1e-5)


def test_training_goes_on_with_a_network_that_was_trained(samples, embedding):
    first = NetworkMethod(embedding, replace(SMALL, loop=replace(SMALL.loop, epochs=2)))
    first.fit(samples, np.arange(0, len(samples), 2), np.random.default_rng(0))
    loop = replace(SMALL.loop, epochs=1, learning_rate=1e-9)
    further = NetworkMethod(embedding, replace(SMALL, loop=loop), begin_with=first.to_network())
    rows = np.arange(len(samples))
    further.fit(samples, rows, np.random.default_rng(1))
    assert further.row is not None and first.row is not None
    assert np.array_equal(further.row, first.row)
    assert further.scores(samples, "-O0", rows) == pytest.approx(first.scores(samples, "-O0", rows), abs=1e-4)


def test_few_programs_are_seen_more_often(samples, embedding):
    epochs = []
    training = replace(SMALL, min_steps=20, loop=replace(SMALL.loop, epochs=2))
    method = NetworkMethod(embedding, training, progress=lambda epoch, _loss: epochs.append(epoch))
    method.fit(samples, np.arange(8), np.random.default_rng(0))
    assert epochs[-1] == 20


def test_the_papers_head_reads_the_first_level_and_no_literals(samples, embedding):
    loop = TrainingConfig(epochs=40, batch_size=8, learning_rate=1e-2)
    method = NetworkMethod(embedding, replace(paper_training(hidden=16), loop=loop))
    rows = np.arange(0, len(samples), 2)
    method.fit(samples, rows, np.random.default_rng(0))
    found = method.predict(samples, rows)
    assert (found.argmax(axis=1) == samples.label[rows]).mean() >= 0.8
    without = replace(samples, views={"-O1": replace(samples.views["-O1"], literal=samples.views["-O1"].literal * 0)})
    assert np.array_equal(method.predict(without, rows), found)


def test_vectors_that_are_kept_are_the_embeddings(samples, embedding):
    training = replace(SMALL, encoder=replace(SIZES, train_vectors=False), loop=replace(SMALL.loop, epochs=1))
    method = NetworkMethod(embedding, training)
    with pytest.raises(InputError, match="fit the method"):
        method.to_network()
    method.fit(samples, np.arange(0, len(samples), 2), np.random.default_rng(0))
    assert np.array_equal(method.to_network().vectors, embedding.vectors)
    assert method.row is not None
    assert method.row.tolist() == list(range(len(embedding.vectors)))
