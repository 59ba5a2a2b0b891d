"""Counts the edges of ncc's graphs by opcode and kind, beside those of the code published with the paper.

    python benchmarks/graph_edges.py

Over the published LLVM 5 IR of 669 kernels (the data set ``legacy_ir``). The published
code's totals were counted once, by running it on the same files.
"""

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np

from ncc.ir.graph.xfg import EdgeKind, build_xfg
from ncc.ir.reader.reader import read_module
from ncc.system.files.writing import write_atomically
from ncc.tasks.devices.train import load_legacy_ir

RESULT = Path(__file__).with_name("results") / "graph_edges.json"
PUBLISHED = {"all": 326_235, "br": 18_659, "switch": 12, "ret": 2_489}
"""Edges that the published code makes, where these differ from ours in number."""
_OPCODE = re.compile(r"(?:<%ID> = )?(?:(?:tail|musttail|notail) )?(\w+)")


def count_edges(modules: dict[str, bytes]) -> dict[str, Counter[str]]:
    """Opcode → kind → edges."""
    counts: dict[str, Counter[str]] = {}
    for name, text in sorted(modules.items()):
        graph = build_xfg(read_module(text, name=name))
        pairs, numbers = np.unique(
            np.stack([graph.module.text_id[graph.statement], graph.kind.astype(np.int32)]), axis=1, return_counts=True
        )
        for text_id, kind, number in zip(*pairs.tolist(), numbers.tolist(), strict=True):
            found = _OPCODE.match(graph.module.texts[text_id])
            opcode = found[1] if found else "other"
            counts.setdefault(opcode, Counter())[EdgeKind(kind).name.lower()] += number
    return counts


def main() -> None:
    modules = load_legacy_ir()
    counts = count_edges(modules)
    totals = {opcode: kinds.total() for opcode, kinds in sorted(counts.items())}
    totals["all"] = sum(totals.values())
    print(f"{len(modules)} files\n{'edges':8} {'ncc':>9} {'published':>9}")
    for opcode, published in PUBLISHED.items():
        print(f"{opcode:8} {totals.get(opcode, 0):9,} {published:9,}")
    result = {
        "command": "python benchmarks/graph_edges.py",
        "files": len(modules),
        "totals": totals,
        "published": PUBLISHED,
        "by_kind": counts,
    }
    write_atomically(RESULT, (json.dumps(result, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
