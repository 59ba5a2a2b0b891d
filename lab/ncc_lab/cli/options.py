"""Options that the lab's commands share: what is compared, how methods are run, and where the figures go."""

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from ncc.cli.printing import print_answer, print_progress
from ncc.errors import AssetError, InputError
from ncc.system.files.provenance import command_line
from ncc.system.files.writing import check_writable, folder_lock, write_atomically, write_output
from ncc.verbs.types import Words
from ncc_lab.environment import environment

_CARDS = ("head.json", "embedding.json", "encoder.json")

Seed = Annotated[int, Words(help="Random seed.")]
Methods = Annotated[list[str] | None, Words(metavar="PATTERN", help="Methods to run, such as 'ncc*'; default: all.")]
Classes = Annotated[
    str | None, Words(metavar="NAMES", help="Classes to compare, such as '81-104' or 'sort,search'; default: all.")
]
EmbeddingFolder = Annotated[Path, Words(metavar="FOLDER", help="Embedding to use; default: the shipped one.")]
Inst2vec = Annotated[
    tuple[Path, Path] | None,
    Words(metavar="DICTIONARY MATRIX", help="Instead measure an inst2vec embedding as published by spcl/ncc."),
]
DataFolder = Annotated[str, Words(metavar="FOLDER", help="Folder of the datasets; default: NCC_DATA, then the cache.")]
ProgramFolder = Annotated[
    Path, Words(metavar="[FOLDER]", help="Folder with a sub-folder of programs for each class; default: POJ-104.")
]
Levels = Annotated[str, Words(metavar="LEVELS", help="Optimization levels to compile programs at, such as '0,1,2'.")]
ProgramsCache = Annotated[
    Path, Words(metavar="FOLDER", help="Where to cache parsed programs; default: the user's cache.")
]
Compilers = Annotated[int, Words(minimum=1, help="Files to compile in parallel.")]


def split_list(words: str) -> tuple[str, ...]:
    """From "a,b" to its parts, each once."""
    return tuple(dict.fromkeys(word.strip() for word in words.split(",")))


def card_of(folder: Path) -> Path:
    """Return the card of the model in a folder."""
    for name in _CARDS:
        if (folder / name).is_file():
            return folder / name
    raise InputError(f"{folder}: holds no model; expected one of {', '.join(_CARDS)}")


def add_scores(folder: Path, scores: dict[str, Any]) -> None:
    """Add scores to a model's card under ``scores``, with the command that measured them; all else stays as it is."""
    from ncc.system.files.models import read_whole  # with NumPy

    path = card_of(folder)
    with folder_lock(folder):
        try:
            card = json.loads(read_whole(path))
            card["card"] |= {"scores": scores, "scores_command": command_line()}
        except (ValueError, KeyError, TypeError) as error:
            raise AssetError(f"{path}: not the card of a model ({error}); the file is damaged") from error
        write_atomically(path, (json.dumps(card, ensure_ascii=False, indent=1) + "\n").encode())


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Where figures go.

    Attributes:
        output: Also write the figures as JSON.
        as_json: Print the answer as JSON.
        into: Add the scores to the card of the model in this folder.
    """

    output: Annotated[Path, Words(metavar="FILE", option=("-o", "--output"))] | None = None
    as_json: Annotated[bool, Words(option=("--json",))] = False
    into: Annotated[Path, Words(metavar="FOLDER")] | None = None

    def check(self, *paths: Path | None) -> None:
        """Refuse, before hours of runs, what can't be written after them."""
        check_writable(self.output, *paths)
        if self.into:
            card_of(self.into)

    def show(self, figures: dict[str, Any], text: str, scores: Callable[[], dict[str, Any]] | None = None) -> None:
        """Print figures for people or machines, write them with their command and environment, and add to a card."""
        if self.into:
            add_scores(self.into, scores() if scores else figures)
        figures = {"command": command_line(), **environment(), **figures}
        if self.output:
            write_output(self.output, (json.dumps(figures, indent=1, ensure_ascii=False) + "\n").encode())
        print_answer(figures if self.as_json else text)


@dataclass(frozen=True, kw_only=True)
class Study(Figures):
    """How methods are compared, and what is done with their scores.

    Attributes:
        seeds: Number of runs, with successive seeds from --seed.
        seed: Random seed.
        trees: Trees in the controls' forests.
        jobs: Folds to run in parallel, each with one thread.
        cache: Where to cache results of folds; default: the user's cache.
        no_cache: Run every fold, without the cache.
        data: Folder of the datasets; default: NCC_DATA, then the cache.
    """

    seeds: Annotated[int, Words(minimum=1)] = 5
    seed: Seed = 204
    trees: Annotated[int, Words(minimum=1)] = 300
    jobs: Annotated[int, Words(minimum=1)] = 1
    cache: Annotated[Path, Words(metavar="FOLDER")] | None = None
    no_cache: bool = False
    data: DataFolder | None = None

    @property
    def how(self) -> dict[str, Any]:
        """How methods are run."""
        figures = {field.name for field in fields(Figures)}
        return {name: value for name, value in vars(self).items() if name not in figures}

    def compare(self, measure: Callable[..., Any], **own: Any) -> None:
        """Measure and show the figures."""
        self.check()
        scores = measure(**own, **self.how, progress=print_progress())
        self.show(scores.to_dict(), scores.to_text(), scores.to_card)


def _options(kind: type, *names: str) -> Words:
    return Words(fields=dict.fromkeys(names or [field.name for field in fields(kind)]))


StudyOptions = Annotated[Study, _options(Study)]
FigureOptions = Annotated[Figures, _options(Figures)]
FilesOptions = Annotated[Figures, _options(Figures, "output", "as_json")]
CardOptions = Annotated[Figures, _options(Figures, "as_json", "into")]
