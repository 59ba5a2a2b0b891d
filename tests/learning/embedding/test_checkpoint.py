"""Checkpoints of the skip-gram: stopping and going on leaves no trace, and files of something else are refused."""

from dataclasses import replace

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from ncc.errors import AssetError, OutputError
from tests.rooms import SkipGramConfig, fit_embedding, load_checkpoint, save_checkpoint, train_skipgram

WORDS = tuple(f"<%ID> = op{i % 4} i{8 << i % 5} <%ID>" for i in range(20))
BOTH = pytest.mark.parametrize("share_parts", [False, True], ids=["plain", "shared"])

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]


def _pairs(seed: int = 0) -> Pairs:
    rng = np.random.default_rng(seed)
    dense = rng.integers(1, 100, (20, 20)) * (rng.random((20, 20)) < 0.3)
    dense[7] = dense[:, 7] = 0
    center, context = np.nonzero(dense)
    return center.astype(np.int32), context.astype(np.int32), dense[center, context].astype(np.int64)


def _config(**values):
    return SkipGramConfig(**({"dim": 8, "epochs": 5, "steps_per_epoch": 3, "subsample": 0.01} | values))


def _train(config=None, pairs: Pairs | None = None, words=WORDS, **options):
    return train_skipgram(*(pairs or _pairs()), words, config or _config(), **options)


class StoppedError(Exception):
    pass


def _stop(path, at=2, config=None):
    """Trains until a number of epochs is done, and stops there, as a signal would."""

    def halt(epoch, _):
        if epoch == at:
            raise StoppedError

    with pytest.raises(StoppedError):
        _train(config, checkpoint=path, progress=halt)


def _same(a, b):
    assert np.array_equal(a.vectors, b.vectors)
    assert np.array_equal(a.contexts, b.contexts)
    assert np.array_equal(a.losses, b.losses)
    assert (a.loss, a.entropy) == (b.loss, b.entropy)


@BOTH
@pytest.mark.parametrize("stops", [(1,), (2,), (2, 4), (1, 2, 3, 4, 5)])
def test_resuming_equals_not_having_stopped(tmp_path, stops, share_parts):
    path, config = tmp_path / "deep" / "checkpoint.safetensors", _config(share_parts=share_parts)
    for stop in stops:
        _stop(path, stop, config)
    seen = []
    resumed = _train(config, checkpoint=path, progress=lambda epoch, loss: seen.append((epoch, loss)))
    whole = _train(config)
    _same(resumed, whole)
    assert seen == [(epoch, whole.losses[epoch - 1]) for epoch in range(stops[-1] + 1, 6)]


@BOTH
def test_checkpoints_change_nothing(tmp_path, share_parts):
    config = _config(share_parts=share_parts)
    _same(_train(config, checkpoint=tmp_path / "checkpoint.safetensors"), _train(config))
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.safetensors"]


def test_a_finished_training_is_read_and_not_done_again(tmp_path):
    path, seen = tmp_path / "checkpoint.safetensors", []
    whole = _train(checkpoint=path)
    before = path.read_bytes()
    _same(_train(checkpoint=path, progress=lambda *epoch: seen.append(epoch)), whole)
    assert seen == []
    assert path.read_bytes() == before


def test_a_small_vocabulary_with_more_steps_than_words_resumes_exactly(tmp_path):
    path, config = tmp_path / "checkpoint.safetensors", _config(steps_per_epoch=100)
    _stop(path, 2, config)
    _same(_train(config, checkpoint=path), _train(config))


@BOTH
def test_blocks_of_another_size_may_go_on(tmp_path, share_parts):
    path, config = tmp_path / "checkpoint.safetensors", _config(share_parts=share_parts)
    _stop(path, 2, config)
    resumed, whole = _train(replace(config, rows=3), checkpoint=path), _train(config)
    assert np.array_equal(resumed.losses[:2], whole.losses[:2])
    assert resumed.losses == pytest.approx(whole.losses, abs=1e-5)
    assert resumed.vectors == pytest.approx(whole.vectors, abs=2e-3)


@BOTH
def test_it_holds_matrices_and_moments_and_nothing_else(tmp_path, share_parts):
    path = tmp_path / "checkpoint.safetensors"
    _train(_config(share_parts=share_parts), checkpoint=path)
    names = {"contexts", "own"} | ({"parts"} if share_parts else set())
    arrays = load_file(path)
    assert set(arrays) == {f"{name}{suffix}" for name in names for suffix in ("", ".mean", ".variance")}
    assert all(array.dtype == np.float32 and array.shape[1] == 8 for array in arrays.values())


OTHER_CONFIGS = {
    "dim": 9,
    "epochs": 6,
    "steps_per_epoch": 4,
    "learning_rate": 0.03,
    "subsample": 0.0,
    "own_decay": 1.0,
    "seed": 1,
}
REFUSED = r"checkpoint\.safetensors: is of other counts or another configuration; delete it to start anew"


@pytest.mark.parametrize("name", OTHER_CONFIGS)
def test_a_checkpoint_of_another_configuration_is_refused(tmp_path, name):
    path = tmp_path / "checkpoint.safetensors"
    _stop(path)
    with pytest.raises(AssetError, match=REFUSED) as refusal:
        _train(_config(**{name: OTHER_CONFIGS[name]}), checkpoint=path)
    assert str(path) in str(refusal.value)


@BOTH
def test_a_checkpoint_with_parts_does_not_go_on_without_them_nor_the_other_way(tmp_path, share_parts):
    path = tmp_path / "checkpoint.safetensors"
    _stop(path, config=_config(share_parts=share_parts))
    with pytest.raises(AssetError, match=r"checkpoint\.safetensors: "):
        _train(_config(share_parts=not share_parts), checkpoint=path)


def test_a_checkpoint_of_other_counts_is_refused(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    _stop(path)
    center, context, count = _pairs()
    for other in (_pairs(seed=1), (center, context, count + (np.arange(len(count)) == 3))):
        with pytest.raises(AssetError, match=REFUSED):
            _train(pairs=other, checkpoint=path)


@pytest.mark.parametrize(
    "words", [(*WORDS, "ret void"), ("ret void", *WORDS[1:]), WORDS[::-1]], ids=["one more", "one other", "order"]
)
def test_a_checkpoint_of_other_words_is_refused(tmp_path, words):
    path = tmp_path / "checkpoint.safetensors"
    _stop(path)
    with pytest.raises(AssetError, match=REFUSED):
        _train(words=words, checkpoint=path)


@pytest.mark.parametrize("keep", [0, 7, 200, -2])
def test_a_truncated_checkpoint_is_refused(tmp_path, keep):
    path = tmp_path / "checkpoint.safetensors"
    _stop(path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(AssetError, match=r"checkpoint\.safetensors: not a checkpoint .*SafetensorError"):
        _train(checkpoint=path)


@pytest.mark.parametrize("missing", ["own", "contexts.mean", "parts.variance"])
def test_a_checkpoint_without_a_matrix_is_refused(tmp_path, missing):
    path = tmp_path / "checkpoint.safetensors"
    _stop(path)
    arrays = load_file(path)
    del arrays[missing]
    with safe_open(path, framework="numpy") as file:
        about = file.metadata()
    save_file(arrays, path, about)
    with pytest.raises(AssetError, match=rf"checkpoint\.safetensors: lacks {missing}; the file is damaged"):
        _train(checkpoint=path)


ABOUT = {"format_version": "1", "fingerprint": "abc", "losses": "[2.5, 1.5]"}
STATE = {f"own{suffix}": np.arange(6, dtype=np.float32).reshape(2, 3) for suffix in ("", ".mean", ".variance")}


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        {"format_version": "1", "fingerprint": "abc"},
        ABOUT | {"losses": "[2.5,"},
        ABOUT | {"losses": "3"},
        ABOUT | {"losses": '["much"]'},
        ABOUT | {"losses": "[null]"},
    ],
)
def test_a_file_of_another_tool_is_refused(tmp_path, metadata):
    path = tmp_path / "checkpoint.safetensors"
    save_file(STATE, path, metadata)
    with pytest.raises(AssetError, match=r"checkpoint\.safetensors: not a checkpoint of an embedding .*; delete it"):
        load_checkpoint(path, {"own": (2, 3)}, "abc")


@pytest.mark.parametrize("wrong", [{"format_version": "2"}, {"fingerprint": "abd"}])
def test_another_format_version_or_fingerprint_is_refused(tmp_path, wrong):
    path = tmp_path / "checkpoint.safetensors"
    save_file(STATE, path, ABOUT | wrong)
    with pytest.raises(AssetError, match=REFUSED):
        load_checkpoint(path, {"own": (2, 3)}, "abc")


def test_round_trip(tmp_path):
    path = tmp_path / "made" / "on the way" / "checkpoint.safetensors"
    losses = [1 / 3, 2.0**-40]
    save_checkpoint(path, STATE, losses, "abc")
    state, again = load_checkpoint(path, {"own": (2, 3)}, "abc")
    assert again == losses
    assert state.keys() == STATE.keys()
    for name, array in STATE.items():
        assert np.array_equal(state[name], array)


def test_a_folder_that_can_not_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError, match=r"checkpoint\.safetensors: can't be written"):
        _train(checkpoint=tmp_path / "file" / "checkpoint.safetensors")


def test_a_whole_embedding_goes_on_where_it_stopped(counts, tmp_path):
    path, config = tmp_path / "checkpoint.safetensors", SkipGramConfig(dim=6, epochs=3, steps_per_epoch=2)

    def halt(*_):
        raise StoppedError

    with pytest.raises(StoppedError):
        fit_embedding(counts, min_count=4, config=config, checkpoint=path, progress=halt)
    resumed = fit_embedding(counts, min_count=4, config=config, checkpoint=path)
    whole = fit_embedding(counts, min_count=4, config=config)
    assert np.array_equal(resumed.vectors, whole.vectors)
    assert resumed.about["loss"] == whole.about["loss"]
