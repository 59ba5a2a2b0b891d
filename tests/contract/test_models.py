"""What holds for every format of model: a damaged one is refused by name, and a round trip changes no bit."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import ncc
from tests.rooms import load_counts, save_counts
from tests.support.damage import WRONG_CARDS, Card, Tensors, damage_file, damaged_cards, damaged_tensors, lying_headers
from tests.support.refuses import refuses
from tests.support.tiny import Tiny

FORMATS = Path(__file__).parents[1] / "data" / "formats"
HASH = "tensors_sha256"


@dataclass(frozen=True)
class Format:
    """A format of model: where one lies, what reads all of it, and what writes it again."""

    made: Callable[[Tiny], Path]
    load: Callable[[Path], Any]
    stem: str  # of its files
    save: Callable[[Any, Path], None] | None = lambda model, folder: model.save(folder)  # None where only a verb does
    has_tensors: bool = True


MODELS = {
    "embedding": Format(lambda tiny: tiny.embedding, ncc.load_embedding, "embedding"),
    "encoder": Format(lambda tiny: tiny.encoder, ncc.load_encoder, "encoder"),
    "LSTM encoder": Format(lambda tiny: tiny.lstm_encoder, ncc.load_encoder, "lstm"),
    "classifier": Format(lambda tiny: tiny.classifier, ncc.load_classifier, "head"),
    "device head": Format(lambda tiny: tiny.device_head, ncc.load_device_head, "head"),
    "device head of several kinds": Format(lambda _: FORMATS / "times-v4", ncc.load_device_head, "head"),
    "LSTM device head": Format(lambda _: FORMATS / "times-lstm-v4", ncc.load_device_head, "head"),
    "coarsening head": Format(lambda _: FORMATS / "coarsening-v3", ncc.load_coarsening_head, "head"),
    "LSTM coarsening head": Format(lambda _: FORMATS / "coarsening-lstm-v3", ncc.load_coarsening_head, "head"),
    "GPU head": Format(lambda tiny: tiny.gpu_head, ncc.load_gpu_head, "head"),
    "counts": Format(lambda tiny: tiny.corpus / "width-2", load_counts, "counts", save_counts),
    "index": Format(
        lambda tiny: tiny.index,
        lambda folder: ncc.load_index(folder).search(np.ones(8), top=1),
        "index",
        None,
        has_tensors=False,
    ),
}
WITH_TENSORS = [name for name, one in MODELS.items() if one.has_tensors]
SAVED = {name: one.save for name, one in MODELS.items() if one.save}
WITH_HASHES = [name for name in WITH_TENSORS if name != "counts"]
ALLOWED = {
    "card: empty object",
    *(f"{field}: {what}" for field in ("platform", "embedding_id", "pooler_id") for what in ("text", "long text")),
    "prior_log_odds: negative",
}
"""What a damage makes of these fields is a value like any other: they are free."""
READ = "read"
ABSTRACTION = ("keep_callees", "keep_immediates", "max_struct_fields", "keep_casts")
EXPERTS = {f"experts[0].source: {what}": READ for what in ("text", "long text")} | {
    "experts[0].names: one twice": READ  # kernels that several compilers compiled
}
KNOWN: Mapping[str, Mapping[str, str]] = {
    # an abstraction without settings is the default one; nothing but the vectors says how many numbers they have
    "embedding": {
        "abstraction: empty object": READ,
        **{f"without abstraction.{field}": READ for field in ABSTRACTION},
        "abstraction.max_struct_fields: null": READ,
        "tensor vectors longer": READ,
        "a tensor too many": READ,
    },
    "encoder": {},
    "LSTM encoder": {},
    "classifier": {},
    "device head": EXPERTS,
    "device head of several kinds": EXPERTS,
    "LSTM device head": EXPERTS,
    "coarsening head": {},
    "LSTM coarsening head": {},
    "GPU head": {},
    "counts": {"a tensor too many": READ},
    "index": {
        "pooling: text": READ,
        "pooling: long text": READ,
        "embedding: null": READ,
        "embedding: text": READ,
        "embedding: long text": READ,
        "without encoder": READ,
        "encoder: text": READ,
        "encoder: long text": READ,
    },
}
"""What is read all the same, or refused otherwise than it should be. The list may only become shorter."""


class Copy:
    """A copy of a model that can be changed, and what loads it."""

    def __init__(self, form: Format, source: Path, folder: Path) -> None:
        self.form, self.folder = form, folder
        folder.mkdir()
        for path in source.iterdir():
            if path.is_file():
                shutil.copy(path, folder)
        self.card_path = folder / f"{form.stem}.json"
        self.tensors_path = folder / f"{form.stem}.safetensors"
        self.card: Card = json.loads(self.card_path.read_bytes())

    def forget_hash(self) -> None:
        """Leaves the hash of the tensors out of the card, as whoever forges those would."""
        self.card.pop(HASH, None)
        self.write_card(self.card)

    def write_card(self, card: Card) -> None:
        self.card_path.write_text(json.dumps(card))

    def outcome(self) -> str:
        """Whether the model is "read", or "refused" with the path in a short message; else what is wrong."""
        try:
            self.form.load(self.folder)
        except (ncc.AssetError, ncc.InputFileError) as error:
            message = str(error)
            if str(self.folder) not in message or "\n" in message:
                return f"refused with {message[:700]!r}"
            return "refused" if len(message) < 700 else "refused at length"
        except Exception as error:
            print(f"{type(error).__name__}: {error}"[:500])
            return type(error).__name__
        return READ


@pytest.fixture
def copy_of(tiny: Tiny, tmp_path: Path) -> Callable[[str], Copy]:
    """Maker of a copy of a model."""
    return lambda name: Copy(MODELS[name], MODELS[name].made(tiny), tmp_path / "model")


@pytest.mark.parametrize("name", MODELS)
def test_each_damage_to_cards_and_tensors_is_refused(name: str, copy_of: Callable[[str], Copy]) -> None:
    copy = copy_of(name)
    copy.forget_hash()
    assert copy.outcome() == "read"
    outcomes = {}
    for what, card in damaged_cards(copy.card):
        copy.write_card(card)
        outcomes[what] = copy.outcome()
    copy.write_card(copy.card)
    if copy.form.has_tensors:
        whole: Tensors = load_file(copy.tensors_path)
        for what, tensors in damaged_tensors(whole):
            save_file(tensors, copy.tensors_path)
            outcomes[what] = copy.outcome()
    wrong = {what: outcome for what, outcome in outcomes.items() if outcome != "refused"}
    assert {what: outcome for what, outcome in wrong.items() if what not in ALLOWED or outcome != READ} == KNOWN[name]


@pytest.mark.parametrize("name", MODELS)
def test_files_that_end_too_soon_are_missing_or_never_end_are_refused(
    name: str, copy_of: Callable[[str], Copy]
) -> None:
    copy = copy_of(name)
    outcomes = {what: copy.outcome() for path in sorted(copy.folder.iterdir()) for what in damage_file(path)}
    assert outcomes == dict.fromkeys(outcomes, "refused")


@pytest.mark.parametrize("name", MODELS)
def test_cards_that_are_no_json_of_a_known_version_are_refused(name: str, copy_of: Callable[[str], Copy]) -> None:
    copy = copy_of(name)
    wrong = {**WRONG_CARDS}
    for version in (0, copy.card["format_version"] + 1, str(copy.card["format_version"]), None, True):
        wrong[f"version {version!r}"] = json.dumps(copy.card | {"format_version": version}).encode()
    outcomes = {}
    for what, data in wrong.items():
        copy.card_path.write_bytes(data)
        outcomes[what] = copy.outcome()
    assert outcomes == dict.fromkeys(outcomes, "refused")


@pytest.mark.parametrize("name", WITH_TENSORS)
def test_headers_of_tensors_that_lie_are_refused(name: str, copy_of: Callable[[str], Copy]) -> None:
    copy = copy_of(name)
    copy.forget_hash()
    outcomes = {}
    for what, data in lying_headers(copy.tensors_path.read_bytes()):
        copy.tensors_path.write_bytes(data)
        outcomes[what] = copy.outcome()
    assert outcomes == dict.fromkeys(outcomes, "refused")


@pytest.mark.parametrize("name", WITH_HASHES)
def test_a_changed_number_is_refused_by_the_hash_of_the_tensors(name: str, copy_of: Callable[[str], Copy]) -> None:
    copy = copy_of(name)
    tensors = load_file(copy.tensors_path)
    first = min(one for one, array in tensors.items() if array.size)
    tensors[first].ravel()[0] = tensors[first].ravel()[0] == 0
    save_file(tensors, copy.tensors_path)
    assert copy.outcome() == "refused"


@pytest.mark.parametrize("name", SAVED)
def test_a_round_trip_keeps_every_number_and_a_second_one_every_bit(
    name: str, copy_of: Callable[[str], Copy], tmp_path: Path
) -> None:
    copy = copy_of(name)
    for source, target in ((copy.folder, tmp_path / "once"), (tmp_path / "once", tmp_path / "twice")):
        SAVED[name](copy.form.load(source), target)
    once, twice = ({path.name: path.read_bytes() for path in (tmp_path / n).iterdir()} for n in ("once", "twice"))
    assert once == twice
    if copy.form.has_tensors:
        before, after = (load_file(folder / copy.tensors_path.name) for folder in (copy.folder, tmp_path / "once"))
        assert before.keys() == after.keys()
        for tensor, array in before.items():
            assert array.dtype == after[tensor].dtype, tensor
            np.testing.assert_array_equal(array, after[tensor], err_msg=tensor)


@pytest.mark.parametrize("name", SAVED)
def test_a_folder_that_can_not_be_written_is_named(name: str, copy_of: Callable[[str], Copy], tmp_path: Path) -> None:
    copy = copy_of(name)
    (tmp_path / "file").write_text("")
    with refuses(ncc.OutputError, tmp_path / "file"):
        SAVED[name](copy.form.load(copy.folder), tmp_path / "file")
