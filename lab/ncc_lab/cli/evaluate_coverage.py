"""``ncc evaluate coverage``: how much of some code an embedding knows."""

from typing import Annotated, Any

import typer

from ncc.cli.options import EmbeddingFolder, Inputs, OneJson, ResultFile, takes_compile_options
from ncc.cli.output import say
from ncc.system.files.writing import check_writable
from ncc_lab.cli.evaluate_embedding import Inst2vec, measured_embedding
from ncc_lab.cli.figures import print_figures


@takes_compile_options()
def evaluate_coverage(
    inputs: Inputs,
    embedding: EmbeddingFolder = None,
    inst2vec: Inst2vec = None,
    misses: Annotated[int, typer.Option(help="How many of the most frequent misses to show.")] = 20,
    output: ResultFile = None,
    as_json: OneJson = False,
    *,
    options: Any,
) -> None:
    """Count how many statements of code or corpora an embedding has exactly, and how far the others back off."""
    import ncc_lab

    check_writable(output)
    table = measured_embedding(embedding, inst2vec)
    coverage = ncc_lab.evaluate_coverage(inputs, embedding=table, misses=misses, options=options)
    for reason in coverage.failures.values():
        say(f"ncc: {reason}")
    print_figures({"num_words": len(table.vocabulary), **coverage.to_dict()}, [coverage.to_text()], output, as_json)
    if coverage.failures:
        raise typer.Exit(1)
