"""Commands that answer questions about code: embed, graph, info."""

import json
import platform as host
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ncc.cli.output import (
    Clang,
    Define,
    EmbeddingFolder,
    Flag,
    Include,
    Inputs,
    Json,
    Language,
    Optimization,
    Timeout,
    check_writable,
    compile_options,
    fail,
    run_over,
)
from ncc.errors import NccError

__all__ = ["register"]

_LEVELS = ("module", "function", "statement")


def embed(
    inputs: Inputs,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write .npz, .json, .csv or .parquet.")
    ] = None,
    level: Annotated[str, typer.Option(help="One vector per module, function or statement.")] = "module",
    embedding: EmbeddingFolder = None,
    as_json: Json = False,
    clang: Clang = None,
    include: Include = None,
    define: Define = None,
    flag: Flag = None,
    optimization: Optimization = "1",
    language: Language = None,
    timeout: Timeout = 60.0,
) -> None:
    """Turn code into vectors."""
    import numpy as np

    from ncc import api
    from ncc.runtime.tables import FORMATS, write_vectors

    if level not in _LEVELS:
        fail(f"--level is {level!r}; expected one of {', '.join(_LEVELS)}", code=2)
    if output:
        if output.suffix not in FORMATS:
            fail(f"{output}: extension {output.suffix!r} is none of {' '.join(FORMATS)}", code=2)
        check_writable(output)
    options = compile_options(clang, include, define, flag, optimization, language, timeout)
    table = _load_embedding(embedding)
    names: list[str] = []
    labels: list[str] = []
    gathered: list[Any] = []  # vectors alone: a folder's modules would not fit in memory

    def work(name: str) -> tuple[dict[str, Any], str]:
        result = api.embed(name, options=options, embedding=table)
        vectors = result.at(level)  # type: ignore[arg-type]
        if output:
            names.extend([result.module.name] * len(vectors))
            labels.extend(result.labels(level))  # type: ignore[arg-type]
            gathered.append(vectors)
        fields = {
            "num_statements": result.num_statements,
            "unknown_rate": result.unknown_rate,
            "backoff": result.backoff,
            "dim": result.dim,
            "level": level,
            "vectors": {level: vectors.tolist() if as_json else []},
            "labels": list(result.labels(level)) if as_json else [],  # type: ignore[arg-type]
        }
        text = (
            f"{name}: {len(vectors)} {level} vector(s) of {result.dim} numbers from {result.num_statements} statements "
            f"of {result.module.num_functions} function(s), {result.unknown_rate:.1%} unknown"
        )
        if not output and level != "statement":
            rows = zip(result.labels(level), vectors, strict=True)  # type: ignore[arg-type]
            text += "".join(f"\n  {label}\t{_abridged(vector)}" for label, vector in rows)
        return fields, text

    def finish() -> None:
        if output and gathered:
            write_vectors(output, names, labels, np.concatenate(gathered))

    fields = ("num_statements", "unknown_rate", "vectors", "dim")
    run_over(inputs, work, as_json=as_json, fields=fields, finish=finish if output else None)


def _abridged(vector: Any) -> str:
    return " ".join(f"{number:+.4f}" for number in vector[:6]) + " …"


def _load_embedding(folder: Path | None) -> Any:
    from ncc.embedding import load_embedding

    try:
        return load_embedding(folder)
    except NccError as error:
        fail(str(error))


def graph(
    inputs: Inputs,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write .dot, .graphml, .json or .html.")
    ] = None,
    as_json: Json = False,
    clang: Clang = None,
    include: Include = None,
    define: Define = None,
    flag: Flag = None,
    optimization: Optimization = "1",
    language: Language = None,
    timeout: Timeout = 60.0,
) -> None:
    """Build the contextual flow graph (XFG) of code."""
    from ncc import api
    from ncc.graph import EXPORTERS, EdgeKind
    from ncc.graph.export import to_dict
    from ncc.inputs import expand_inputs
    from ncc.runtime.storage import write_atomically

    if output:
        if output.suffix not in EXPORTERS:
            fail(f"{output}: extension {output.suffix!r} is none of {' '.join(EXPORTERS)}", code=2)
        if len(expand_inputs(inputs)) != 1:
            fail("-o takes one input; for several, use --json", code=2)
        check_writable(output)
    options = compile_options(clang, include, define, flag, optimization, language, timeout)

    def work(name: str) -> tuple[dict[str, Any], str]:
        xfg = api.build_graph(name, options=options)
        unknown_rate = _load_embedding(None).look_up(xfg.module.texts).over(xfg.module.text_id).unknown_rate
        counts = {kind.name.lower(): int((xfg.kind == kind).sum()) for kind in EdgeKind}
        fields: dict[str, Any] = {
            "num_statements": xfg.module.num_statements,
            "unknown_rate": unknown_rate,
            "num_edges": xfg.num_edges,
            "edges_by_kind": counts,
        }
        if output:
            write_atomically(output, EXPORTERS[output.suffix](xfg).encode("utf-8", "backslashreplace"))
        elif as_json:
            fields["graph"] = to_dict(xfg)
        shares = ", ".join(f"{count} {kind}" for kind, count in counts.items())
        text = f"{name}: {xfg.module.num_statements} statements, {xfg.num_edges} edges ({shares})"
        return fields, text

    run_over(inputs, work, as_json=as_json)


def info(as_json: Json = False) -> None:
    """Show versions, the compiler, the shipped models and where data is looked for."""
    import llvmlite.binding as llvm

    import ncc
    from ncc.classification.predict import load_shipped_classifier
    from ncc.coarsening.predict import load_shipped_coarsening_head
    from ncc.data import data_folder
    from ncc.devices.predict import PLATFORMS, load_device_head
    from ncc.frontend import SOURCE_EXTENSIONS
    from ncc.frontend.compilers import find_compiler
    from ncc.inputs import IR_EXTENSIONS
    from ncc.runtime.confinement import describe_confinement

    try:
        embedding = _load_embedding(None)
        heads = {name: load_device_head(name).about for name in PLATFORMS}
        coarsening = load_shipped_coarsening_head().about
        classifier = load_shipped_classifier().about
        compiler = " ".join(find_compiler(None).argv)
    except NccError as error:
        fail(str(error))
    facts: dict[str, Any] = {
        "version": ncc.__version__,
        "python": host.python_version(),
        "llvm": ".".join(map(str, llvm.llvm_version_info)),
        "compiler": compiler,
        "confinement": describe_confinement(),
        "reads": sorted(IR_EXTENSIONS | SOURCE_EXTENSIONS),
        "embedding": {"id": embedding.fingerprint, "dim": embedding.dim} | embedding.about,
        "device_heads": heads,
        "coarsening_head": coarsening,
        "classifier": classifier,
        "data_folder": str(data_folder()),
    }
    if as_json:
        print(json.dumps(facts))
        return
    for name, value in facts.items():
        shown = json.dumps(value, indent=2) if isinstance(value, dict) else value
        sys.stdout.write(f"{name}: {' '.join(shown) if isinstance(shown, list) else shown}\n")


def register(app: typer.Typer) -> None:
    """Adds the commands to the application."""
    app.command()(embed)
    app.command()(graph)
    app.command()(info)
