"""The lab's verbs, which the command lists if the lab is installed: ``ncc evaluate`` and ``ncc bench``."""

from ncc.cli.main import VerbGroup

_EVALUATED = {
    **{name: name for name in ("embedding", "coverage", "devmap", "times", "gpu", "coarsening")},
    "classify": "classification",
    **{name: name for name in ("classifier", "retrieval", "functions")},
}
"""Name of a command, and of what its function evaluates."""

evaluate = VerbGroup(
    "evaluate",
    {name: f"ncc_lab.verbs:evaluate_{what}" for name, what in _EVALUATED.items()},
    "Measure methods beside their controls.",
)
bench = VerbGroup("bench", {"scaling": "ncc_lab.verbs:bench_scaling"}, "Benchmark ncc.")
