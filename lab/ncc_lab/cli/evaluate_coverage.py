"""``ncc evaluate coverage``: how much of some code an embedding knows."""

from typing import Annotated

import click

from ncc.cli.printing import print_message
from ncc.system.files.writing import check_writable
from ncc.verbs.types import Compiling, Inputs, Words, command
from ncc_lab.cli.evaluate_embedding import Inst2vec, measured_embedding
from ncc_lab.cli.figures import print_figures
from ncc_lab.cli.options import EmbeddingFolder, OneJson, ResultFile


@command()
def evaluate_coverage(
    inputs: Inputs,
    *,
    embedding: EmbeddingFolder | None = None,
    inst2vec: Inst2vec | None = None,
    misses: Annotated[int, Words(help="How many of the most frequent misses to show.")] = 20,
    output: ResultFile | None = None,
    as_json: OneJson = False,
    options: Compiling | None = None,
) -> None:
    """Count how many statements of code or corpora an embedding has exactly, and how far the others back off."""
    import ncc_lab

    check_writable(output)
    table = measured_embedding(embedding, inst2vec)
    coverage = ncc_lab.evaluate_coverage(inputs, embedding=table, misses=misses, options=options)
    for reason in coverage.failures.values():
        print_message(f"ncc: {reason}")
    print_figures({"num_words": len(table.vocabulary), **coverage.to_dict()}, [coverage.to_text()], output, as_json)
    if coverage.failures:
        raise click.exceptions.Exit(1)
