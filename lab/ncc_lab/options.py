"""Shared parts of the lab's verbs: types of parameters, how methods are run, and where figures go."""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar

from ncc.errors import AssetError, InputError, check_positive
from ncc.system.files.text import command_line
from ncc.system.files.writing import check_folder, check_writable, folder_lock, write_atomically, write_output
from ncc.verbs.types import Answer, Command, Words, document
from ncc_lab.environment import environment

_Function = TypeVar("_Function", bound=Callable[..., Any])

_CARDS = ("head.json", "embedding.json", "encoder.json")

Methods = Annotated[
    Sequence[str] | None, Words(metavar="PATTERN", help="Methods to run, such as 'ncc*'; default: all.")
]
Classes = Annotated[
    str | None, Words(metavar="NAMES", help="Classes to compare, such as '81-104' or 'sort,search'; default: all.")
]
Inst2vec = Annotated[
    tuple[Path, Path] | None,
    Words(metavar="DICTIONARY MATRIX", help="Instead measure an inst2vec embedding as published by spcl/ncc."),
]
ProgramFolder = Annotated[
    str | Path, Words(metavar="[FOLDER]", help="Folder with a sub-folder of programs for each class; default: POJ-104.")
]
ProgramsCache = Annotated[
    str | Path, Words(metavar="FOLDER", help="Where to cache parsed programs; default: the user's cache.")
]
Clangs = Annotated[Sequence[str] | None, Words(metavar="PATH")]


@dataclass(frozen=True, kw_only=True)
class Runs:
    """How methods are run.

    Attributes:
        seeds: Number of runs, with successive seeds from --seed.
        seed: Random seed of the first run.
        trees: Trees in the controls' forests.
        jobs: Folds to run in parallel, each with one thread.
        cache: Where to cache results of folds; default: the user's cache.
        no_cache: Run every fold, without the cache.
        data: Folder of the datasets; default: NCC_DATA, then the cache.
    """

    seeds: Annotated[int, Words(minimum=1)] = 5
    seed: int = 204
    trees: Annotated[int, Words(minimum=1)] = 300
    jobs: Annotated[int, Words(minimum=1)] = 1
    cache: Annotated[str | Path, Words(metavar="FOLDER")] | None = None
    no_cache: bool = False
    data: Annotated[str, Words(metavar="FOLDER")] | None = None

    def __post_init__(self) -> None:
        check_positive(seeds=self.seeds, trees=self.trees, jobs=self.jobs)
        if self.cache and self.no_cache:
            raise InputError("--cache and --no-cache exclude each other")

    @property
    def all_seeds(self) -> range:
        """The seeds of all runs."""
        return range(self.seed, self.seed + self.seeds)

    def cache_folder(self) -> Path | None:
        """Return where results of folds are kept, if anywhere."""
        from ncc.learning.data.registry import cache_folder

        if self.no_cache:
            return None
        folder = Path(self.cache) if self.cache else cache_folder() / "runs"
        check_folder(folder)
        return folder


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Where figures go.

    Attributes:
        output: Also write the figures as JSON.
        into: Add the scores to the card of the model in this folder.
    """

    output: Annotated[Path, Words(metavar="FILE", option=("-o", "--output"))] | None = None
    into: Annotated[Path, Words(metavar="FOLDER")] | None = None

    def check(self, *paths: Path | None) -> None:
        """Refuse, before hours of runs, what can't be written after them."""
        check_writable(self.output, *paths)
        if self.into:
            card_of(self.into)

    def keep(self, figures: Mapping[str, Any], scores: Mapping[str, Any]) -> dict[str, Any]:
        """Add scores to a card, write figures with their command and environment, and return all of these."""
        if self.into:
            add_scores(self.into, scores)
        content = {"command": command_line(), **environment(), **figures}
        if self.output:
            write_output(self.output, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
        return content


def evaluation(
    *outputs: str, failures: Callable[[Any], Sequence[str]] = lambda _: (), **settings: Any
) -> Callable[[_Function], _Function]:
    """Make a function a verb whose figures are printed and kept.

    ``outputs`` are the fields of `Figures` that its command has as options, ``failures`` gives messages about a result,
    and settings are those of the command. A result has ``to_text`` and ``to_dict``, and ``to_card`` if its scores are
    not all that the latter gives.
    """

    def decorate(measure: _Function) -> _Function:
        kind = Annotated[Figures, Words(fields=dict.fromkeys(outputs))]
        files = inspect.Parameter("files", inspect.Parameter.KEYWORD_ONLY, default=Figures(), annotation=kind)
        signature = inspect.signature(measure)

        @wraps(document(measure))
        def run(*, files: Figures, **given: Any) -> Answer:
            files.check(given.get("plot"))
            found = measure(**given)
            figures = found.to_dict()
            scores = found.to_card() if hasattr(found, "to_card") else figures
            return Answer(text=found.to_text(), json=files.keep(figures, scores), failures=failures(found))

        run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), files])  # type: ignore[attr-defined]
        place = f"{measure.__module__}:{measure.__name__}"
        measure.command = Command(run=run, place=place, has_json=True, **settings)  # type: ignore[attr-defined]
        return measure

    return decorate


def card_of(folder: Path) -> Path:
    """Return the card of the model in a folder."""
    for name in _CARDS:
        if (folder / name).is_file():
            return folder / name
    raise InputError(f"{folder}: holds no model; expected one of {', '.join(_CARDS)}")


def add_scores(folder: Path, scores: Mapping[str, Any]) -> None:
    """Add scores to a model's card under ``scores``, with the command that measured them; the rest is unchanged."""
    from ncc.system.files.models import read_whole  # with NumPy

    path = card_of(folder)
    with folder_lock(folder):
        try:
            card = json.loads(read_whole(path))
            card["card"] |= {"scores": scores, "scores_command": command_line()}
        except (ValueError, KeyError, TypeError) as error:
            raise AssetError(f"{path}: not the card of a model ({error}); the file is damaged") from error
        write_atomically(path, (json.dumps(card, ensure_ascii=False, indent=1) + "\n").encode())
