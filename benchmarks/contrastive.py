"""What each part of the LSTM encoder brings: without it, how well are programs of classes not seen found?

    SOURCES=FOLDER python benchmarks/contrastive.py --programs FOLDER [--per-class N] [--epochs N] [--steps N]

Trains on classes 1 to 64 of POJ-104 and on builds of the functions of those libraries of
datasets/corpora/functions.toml that lie in the folder, and measures on classes 65 to 80, which choices are made by.
"""

import argparse
import json
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import ncc_lab
from ncc import api
from ncc.learning.corpus.recipe import Recipe, load_recipe
from ncc.system.files.models import write_atomically
from ncc.system.files.provenance import command_line, environment

RESULT = Path(__file__).with_name("results") / "contrastive.json"
RECIPE = Path(__file__).parents[1] / "datasets" / "corpora" / "functions.toml"
CLASSES, VALIDATION = "1-64", "65-80"
VARIANTS: dict[str, dict[str, Any]] = {
    "all parts": {},
    "random vectors of statements": {"pretrained": False},
    "no literals": {"literals": False},
    "no labels: the same function alone": {"function_share": 1.0},
    "no functions: labels alone": {"function_share": 0.0},
}
CONTROLS = (
    "encoder, not trained",
    "mean of statement vectors",
    "TF-IDF n-grams of statements and literals",
    "ncc, --pooling encoder",
)


def libraries() -> Recipe:
    """Those of the recipe that are there."""
    recipe = load_recipe(RECIPE)
    return replace(
        recipe, sources=tuple(source for source in recipe.sources if Path(os.path.expandvars(source.folder)).is_dir())
    )


def rows_of(arguments: argparse.Namespace, **options: Any) -> list[dict[str, Any]]:
    """Scores on the classes of validation."""
    found = ncc_lab.evaluate_retrieval(
        arguments.programs, classes=VALIDATION, per_class=arguments.per_class, progress=print, **options
    )
    return [{"method": score.method, **found.describe(score)} for score in found.scores]


def main() -> None:
    """Runs the measurement."""
    parser = argparse.ArgumentParser(description="What each part of the LSTM encoder brings.")
    parser.add_argument("--programs", type=Path, required=True, help="Folder of POJ-104's classes.")
    parser.add_argument("--per-class", type=int, default=30)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--longest", type=int, default=160)
    parser.add_argument("--batch-size", type=int, default=96)
    arguments = parser.parse_args()
    names = ("per_class", "epochs", "steps", "hidden", "longest", "batch_size")
    given = {name: getattr(arguments, name) for name in names}
    recipe = libraries()
    rows = rows_of(arguments, method=list(CONTROLS))
    about = {"command": command_line("python benchmarks/contrastive.py"), **environment(), **given}
    about |= {"classes": CLASSES, "validation": VALIDATION, "seed": 204}
    about["libraries"] = [Path(source.folder).name for source in recipe.sources]
    for name, options in VARIANTS.items():
        with tempfile.TemporaryDirectory() as folder:
            begin = time.process_time()
            api.train_encoder(
                folder,
                programs=arguments.programs,
                classes=CLASSES,
                functions=recipe,
                model="lstm",
                progress=print,
                **given,
                **options,
            )
            seconds = time.process_time() - begin
            (row,) = rows_of(arguments, method=["ncc, LSTM encoder"], encoder=folder)
        rows.append({**row, "method": f"LSTM, {name}", "processor_s": round(seconds)})
        write_atomically(RESULT, (json.dumps({**about, "rows": rows}, indent=1) + "\n").encode())
    for row in rows:
        print("{method:<48}{map_at_r:>8.1%}  {interval[0]:.1%} to {interval[1]:.1%}".format(**row))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
