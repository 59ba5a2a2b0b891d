"""``ncc graph``: contextual flow graphs, printed or in a file."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ncc.cli.options import Inputs, Json, takes_compile_options
from ncc.cli.running import Input, run_over
from ncc.errors import InputError
from ncc.system.files.writing import check_writable


@takes_compile_options()
def graph(
    inputs: Inputs,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write .html, .svg, .dot, .graphml or .json.")
    ] = None,
    function: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Function that .svg shows, or that .html shows first; mangled or as in the source."
        ),
    ] = None,
    as_json: Json = False,
    *,
    options: Any,
) -> None:
    """Build the contextual flow graph (XFG) of code."""
    from ncc import api
    from ncc.ir.graph.export import EXPORTERS, to_dict
    from ncc.ir.graph.xfg import EdgeKind
    from ncc.ir.inputs import find_inputs
    from ncc.system.files.writing import write_output

    if output and output.suffix not in EXPORTERS:
        raise InputError(f"{output}: extension {output.suffix!r} is not one of {' '.join(EXPORTERS)}")
    if output and len(find_inputs(inputs)) != 1:
        raise InputError("-o takes one input; for several, use --json")
    is_drawn = output is not None and output.suffix in (".html", ".svg")
    if function is not None and not is_drawn:
        raise InputError("--function goes with -o FILE.html or FILE.svg")
    check_writable(output)
    chosen = {} if function is None else {"function": function}
    options = replace(options, debug_lines=is_drawn)

    def work(name: Input) -> tuple[dict[str, Any], str]:
        xfg = api.build_graph(name, options=options)
        unknown_rate = api.load_embedding().look_up(xfg.module.texts).expand(xfg.module.text_id).unknown_rate
        counts = {kind.name.lower(): int((xfg.kind == kind).sum()) for kind in EdgeKind}
        fields: dict[str, Any] = {
            "num_statements": xfg.module.num_statements,
            "unknown_rate": unknown_rate,
            "num_edges": xfg.num_edges,
            "edges_by_kind": counts,
        }
        if output:
            write_output(output, EXPORTERS[output.suffix](xfg, **chosen).encode("utf-8", "backslashreplace"))
        elif as_json:
            fields["graph"] = to_dict(xfg)
        shares = ", ".join(f"{count} {kind}" for kind, count in counts.items())
        text = f"{name}: {xfg.module.num_statements} statements, {xfg.num_edges} edges ({shares})"
        return fields, text

    run_over(inputs, work, as_json=as_json)
