"""The programs of a sweep: where they are, how they are read, and which of them each run trains on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ncc.arrays import Ints
from ncc.learning.embedding.embedding import Embedding, load_embedding
from ncc.learning.programs.labelled import (
    ProgramSamples,
    find_labelled_files,
    level_names,
    load_programs,
    programs_cache,
    programs_folder,
)
from ncc.tasks.classification.train import ProgramSplit, split_samples
from ncc_lab.programs.classify import first_of_each


@dataclass(frozen=True, kw_only=True)
class ProgramSource:
    """Labeled programs, in a form that the processes of a run can read again."""

    folder: str
    levels: tuple[str, ...]
    cache: str
    embedding: str | None = None

    @classmethod
    def find(
        cls,
        folder: str | Path | None = None,
        levels: Sequence[str] = ("1",),
        *,
        cache: str | Path | None = None,
        embedding: str | Path | None = None,
        data: str | None = None,
    ) -> "ProgramSource":
        """Return the source that a user named: POJ-104, the user's cache and the shipped embedding by default."""
        return cls(
            levels=level_names(",".join(levels)),
            folder=str(programs_folder(Path(folder) if folder else None, data).absolute()),
            cache=str(Path(cache or programs_cache()).absolute()),
            embedding=str(Path(embedding).absolute()) if embedding else None,
        )

    def load(self, *, progress: Callable[[str], None] | None = None) -> "Programs":
        """Read the programs, or find them in the cache, and split them."""
        embedding = load_embedding(Path(self.embedding) if self.embedding else None)
        samples = load_programs(
            find_labelled_files(self.folder),
            self.levels,
            abstraction=embedding.abstraction,
            cache=Path(self.cache),
            progress=progress,
        )
        return Programs(embedding, samples, split_samples(samples))


@dataclass(frozen=True, eq=False)
class Programs:
    """Programs that were read, what they are looked up in, and their split, which keeps near-duplicates together."""

    embedding: Embedding
    samples: ProgramSamples
    split: ProgramSplit

    def training_rows(self, per_class: int | None) -> Ints:
        """Return rows to train on; a larger number takes those of a smaller one and more."""
        return self.split.train if per_class is None else first_of_each(self.samples.label, self.split.train, per_class)
