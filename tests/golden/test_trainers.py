"""What is trained on little says and answers what it did."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.golden import small
from tests.golden.cases import FEW_KERNELS, IR, MODULES, ROOT
from tests.support.goldens import Goldens, comparable
from tests.support.tiny import write_launches
from tests.support.verbs import run_here, start

NO_BFLOAT16 = {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}
"""Has every processor train in the precision that all have."""


@pytest.fixture
def checked(goldens: Goldens, tmp_path: Path) -> Any:
    """Trains, asks what was trained, and compares both."""

    def check(name: str, train: list[object], *asked: list[object], apart: bool = False) -> None:
        output = ["-o", tmp_path / "head"]
        if apart:
            with start(*train, *output, env={**os.environ, "OMP_NUM_THREADS": "1", **NO_BFLOAT16}) as process:
                assert process.wait(300) == 0
        else:
            trained = run_here(*train, *output)
            assert trained.code == 0, trained.err
        roots = {str(tmp_path): "FOLDER", f"{ROOT}/": ""}
        answers = [comparable(run_here(*one, tmp_path / "head", "--json").rows, roots=roots) for one in asked]
        (file,) = (tmp_path / "head").glob("*.json")
        saved = json.loads(file.read_bytes())
        card = saved.get("card", saved.get("about"))
        goldens.check(f"train-{name}", {"card": comparable(card, roots=roots), "answers": answers})

    return check


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "corpus"
    built = run_here("corpus", "build", ROOT / IR, "-o", folder, "--jobs", "1")
    assert built.code == 0, built.err
    return folder


SMALL = ["--dim", "8", "--min-count", "3", "--epochs", "2"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("embedding", ["--steps-per-epoch", "3", "--subsample", "0"]),
        pytest.param("embedding-whole", ["--steps-per-epoch", "2", "--no-subwords"], marks=pytest.mark.full),
        ("embedding-gensim", ["--engine", "gensim", "--num-pairs", "5000"]),
    ],
)
def test_an_embedding(name: str, options: list[object], corpus: Path, checked: Any) -> None:
    asked = ["embed", MODULES[0], "--level", "function", "--embedding"]
    checked(name, ["train", "embedding", corpus, *SMALL, *options], asked)


def test_an_lstm_encoder(checked: Any, tmp_path: Path) -> None:
    programs = small.write_programs(tmp_path / "programs", 8)
    words = "--model lstm --classes bits,sums --dim 8 --hidden 8 --epochs 1 --steps-per-epoch 4 --batch-size 8"
    options = [*words.split(), "--function-fraction", "0", "--functions", programs / "sums"]
    checked("encoder-lstm", ["train", "encoder", programs, *options], ["embed", MODULES[0], "--encoder"])


def test_a_classifier(checked: Any, tmp_path: Path) -> None:
    programs = small.write_programs(tmp_path / "programs")
    options = ["--levels", "1", "--hidden", "4", "--epochs", "1", "--min-steps", "4", "--batch-size", "16"]
    inputs = [programs / "bits" / "3.c", programs / "sums" / "7.c", MODULES[0]]
    checked("classify", ["train", "classify", programs, *options], ["classify", *inputs, "--head"], apart=True)


@pytest.mark.parametrize("model", ["gp", pytest.param("trees", marks=pytest.mark.full)])
def test_a_device_head(model: str, checked: Any, tmp_path: Path) -> None:
    kernels = [ROOT / name for name in FEW_KERNELS[:8]]
    table = small.write_times(tmp_path / "times.csv", kernels)
    asked = ["predict-device", *kernels[:2], FEW_KERNELS[-1], "--global-size", "65536", "--head"]
    checked(f"devmap-{model}", ["train", "devmap", table, "--model", model], asked)


@pytest.mark.full
def test_a_gpu_head(checked: Any, tmp_path: Path) -> None:
    table = write_launches(tmp_path / "launches" / "own.csv", program_arguments="")
    asked = ["predict-gpu", table.parent / "p2.cu", ROOT / "datasets/gpu/saxpy.cu", "--grid", "8192", "--block", "256"]
    checked("gpu", ["train", "gpu", table, "--gpu", "A100"], [*asked, "--head"])
