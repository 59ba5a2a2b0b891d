"""``ncc train encoder``: trains an encoder, linear or LSTM, on classes of programs and builds of functions."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ncc.errors import InputError, NccError
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.module import Module
from ncc.ir.reader.reader import read_module
from ncc.learning.corpus.recipe import CorpusFile, Recipe, find_files
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.encoder.config import EncoderTraining
from ncc.learning.encoder.linear import LinearEncoder
from ncc.learning.encoder.linear_fit import LabelledPatterns, fit_encoder
from ncc.learning.encoder.network_numpy import LSTMEncoder
from ncc.learning.encoder.patterns import bags_of, count_patterns
from ncc.learning.programs.ir_cache import CachingCompiler, check_compiler
from ncc.learning.programs.labelled import LabelledFiles
from ncc.learning.programs.names import is_library_function
from ncc.learning.programs.table import concatenate, describe_program, own_functions, table_of_functions
from ncc.learning.training.ranks import barrier, process_group, rank_and_world, torch_threads, training_lock
from ncc.system.files.reading import InputFile

_MIN_STATEMENTS = 5
_FILES_AT_A_TIME = 256


@dataclass(frozen=True, kw_only=True)
class TrainingCode:
    """Code to learn from, compiled while it is read."""

    files: LabelledFiles
    levels: Sequence[str]
    recipe: Recipe | None
    clangs: Sequence[str | os.PathLike[str]]
    abstraction: Abstraction
    compiler: CachingCompiler
    jobs: int
    tell: Callable[[str], None]

    def programs(self) -> Iterator[tuple[Module, int]]:
        """Modules of programs, each with the index of its class."""
        variants = [CompileOptions(optimization=level) for level in self.levels]
        for options in variants:
            check_compiler(options)
        labelled = list(zip(self.files.paths, self.files.label.tolist(), strict=True))
        work = [(path, options, label) for options in variants for path, label in labelled]

        def read(item: tuple[str, CompileOptions, int]) -> Module:
            ir = self.compiler.program_ir(InputFile(item[0], self.files.folder), item[1])[0]
            return read_module(ir, name=item[0], abstraction=self.abstraction)

        for (_, _, label), module in self._read_all(work, read, "programs"):
            if module.num_functions:
                yield module, label

    def builds(self) -> Iterator[tuple[Module, list[int], list[int]]]:
        """Modules of builds of files, each with its author's functions and their labels, equal in all builds."""
        assert self.recipe
        work = find_files(self.recipe)
        num_levels: Counter[str] = Counter()
        for file in list(work):
            for clang in self.clangs if num_levels[file.path] in (0, 2) else ():
                attempts = tuple((replace(options, clang=str(clang)), header) for options, header in file.attempts)
                work.append(replace(file, attempts=attempts))
            num_levels[file.path] += 1

        def read(file: CorpusFile) -> Module:
            return read_module(self.compiler.ir_of(file), name=file.path, abstraction=self.abstraction)

        labels: dict[tuple[str, str], int] = {}
        for file, module in self._read_all(work, read, "builds of files"):
            long = np.diff(module.function_start) > _MIN_STATEMENTS
            own = [i for i, name in enumerate(module.function_names) if long[i] and not is_library_function(name)]
            if own:
                names = [module.function_names[i] for i in own]
                yield module, own, [labels.setdefault((file.path, name), len(labels)) for name in names]

    def _read_all(self, work: Sequence[Any], read: Callable[[Any], Module], noun: str) -> Iterator[tuple[Any, Module]]:
        """Items with their modules, in order, without those that can't be read."""
        errors: list[NccError] = []
        with ThreadPoolExecutor(self.jobs) as pool:
            for start in range(0, len(work), _FILES_AT_A_TIME):
                part = work[start : start + _FILES_AT_A_TIME]
                for item, future in [(item, pool.submit(read, item)) for item in part]:
                    try:
                        module = future.result()
                    except NccError as error:
                        errors.append(error)
                    else:
                        yield item, module
                self.tell(f"{start + len(part)} of {len(work)} {noun}")
        if len(errors) == len(work):
            raise InputError(f"none of {len(work)} {noun} can be read: {errors[0] if errors else 'there are none'}")
        self.tell(f"{len(errors)} of {len(work)} {noun} can't be read")


def train_linear(
    output: Path, code: TrainingCode, known: LinearEncoder | None, config: EncoderTraining, card: dict[str, Any] | None
) -> LinearEncoder:
    """Train in one process; the function part is reused from another encoder, if given."""
    of_programs = LabelledPatterns.joined(
        (count_patterns(module, own_functions(module)), [label]) for module, label in code.programs()
    )
    of_builds = known or LabelledPatterns.joined(
        (count_patterns(module, bags_of(module, own)), labels) for module, own, labels in code.builds()
    )
    encoder = fit_encoder(of_programs, of_builds, config, card=card, progress=code.tell)
    encoder.save(output)
    return encoder


def train_lstm(
    output: Path, code: TrainingCode, embedding: Embedding, training: EncoderTraining, device: str, card: dict[str, Any]
) -> LSTMEncoder:
    """Train on all ranks; the first one compiles, the others read its cache."""
    from ncc.learning.encoder.batches import encode_programs  # these load torch
    from ncc.learning.encoder.contrastive import fit_contrastive

    checkpoint = output / "checkpoint.safetensors"
    losses: list[float] = []

    def report(epoch: int, loss: float) -> None:
        losses.append(round(loss, 5))
        code.tell(f"epoch {epoch}: loss {loss:.4f}")

    with process_group(device) as rank_device, training_lock(output), torch_threads(1):
        rank = rank_and_world()[0]
        if rank:
            barrier()
        tables, labels = [], []
        for module, label in code.programs():
            tables.append(describe_program(module))
            labels.append(label)
        num_programs, first = len(labels), 1 + max(labels, default=-1)
        for module, own, numbers in code.builds():
            tables.append(table_of_functions(module).rows(np.array(own)))
            labels += [first + number for number in numbers]
        if not rank:
            barrier()
        encoder = fit_contrastive(
            encode_programs(concatenate(tables), embedding, training.encoder.buckets),
            np.array(labels, np.int64),
            np.arange(len(labels)) >= num_programs,
            embedding.vectors.astype(np.float32),
            training,
            embedding_id=embedding.fingerprint,
            device=rank_device,
            checkpoint=checkpoint,
            progress=report,
        )
        if not rank:
            encoder = replace(encoder, card={**card, "training": asdict(training), "losses": losses})
            encoder.save(output)
            checkpoint.unlink(missing_ok=True)
    return encoder
