"""The ``ncc`` command: parses, calls one API function, prints.

Data goes to stdout, messages and progress to stderr. Exit codes: 0 fine, 1 some input failed, 2 wrong usage.
"""

import typer

from ncc.cli import answers, datasets, making, measuring, predicting, programs, programs_training, scaling
from ncc.cli.standard import standard_streams

__all__ = ["app", "main"]

app = typer.Typer(
    name="ncc",
    help="Neural code comprehension for LLVM IR: vectors, graphs and performance predictions from code.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
answers.register(app)
predicting.register(app)
programs.register(app)
making.register(app)
programs_training.register(making.training)
measuring.register(app)
scaling.register(app)
datasets.register(app)


def main() -> None:
    """Runs the command line."""
    with standard_streams():
        app()
