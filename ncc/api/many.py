"""``embed`` of many inputs, on several processes."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from functools import partial

from ncc.api.vectors import EmbeddedModule, Source, embed
from ncc.errors import NccError, check_positive
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.reader.module import Module
from ncc.learning.embedding.embedding import AnyEmbedding, Lookup
from ncc.learning.encoder.pooling import AnyEncoder, Pooler, load_pooler
from ncc.system.files.reading import is_own_stream
from ncc.system.workers.pool import Pool


def embed_many(
    sources: Iterable[Source] | Source,
    *,
    jobs: int = 1,
    options: CompileOptions | None = None,
    language: str | None = None,
    embedding: AnyEmbedding | None = None,
    encoder: AnyEncoder | None = None,
    pooling: str | Pooler | None = None,
    seconds: float = 300.0,
) -> Iterator[EmbeddedModule | NccError]:
    r"""Embeds many files or texts, and yields results in their order.

    Args:
        sources: Each as for `embed`, taken as they are needed; one alone is taken as it is.
        jobs: Worker processes; if an input crashes, hangs or fills its worker, only that input fails. One job runs in
            this process.
        options: As for `embed`.
        language: As for `embed`, of all sources.
        embedding: As for `embed`.
        encoder: As for `embed`.
        pooling: As for `embed`.
        seconds: Time for an input in a worker.

    Yields:
        For each input what `embed` returns, or the error that it raises.

    Raises:
        InputError: There are no jobs, or there is no such way of pooling.

    Examples:
        >>> import ncc
        >>> texts = ["define void @f() {\n  ret void\n}\n", "define no\n"]
        >>> [type(result).__name__ for result in ncc.embed_many(texts)]
        ['EmbeddedModule', 'IRError']
    """
    options = CompileOptions.of(options, language)
    check_positive(jobs=jobs, seconds=seconds)
    pooler = load_pooler(pooling, embedding, encoder)
    results = Pool(jobs, seconds=seconds).in_order(
        [sources] if isinstance(sources, str | bytes | os.PathLike) else sources,
        partial(_read, options=options, embedding=embedding, encoder=encoder, pooling=pooling),
        name_of=lambda source: "<text>" if _is_text(source) else os.fsdecode(source),
        runs_inline=lambda source: not isinstance(source, bytes) and not _is_text(source) and is_own_stream(source),
    )
    return _results(results, pooler)


def _results(
    results: Generator[Callable[[], tuple[Module, Lookup]]], pooler: Pooler
) -> Iterator[EmbeddedModule | NccError]:
    with closing(results):
        for result in results:
            try:
                module, lookup = result()
            except NccError as error:
                yield error
            else:
                yield EmbeddedModule(module=module, pooler=pooler, lookup=lookup)


def _read(
    source: Source,
    *,
    options: CompileOptions | None,
    embedding: AnyEmbedding | None,
    encoder: AnyEncoder | None,
    pooling: str | Pooler | None,
) -> tuple[Module, Lookup]:
    """What a worker sends: the vectors are here already."""
    found = embed(source, options=options, embedding=embedding, encoder=encoder, pooling=pooling)
    return found.module, found.lookup


def _is_text(source: Source) -> bool:
    return isinstance(source, bytes) or (isinstance(source, str) and "\n" in source)
