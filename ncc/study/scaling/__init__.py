"""How training a classifier of programs scales over ranks: runs of a sweep, each in processes of its own, and scores.

References: Hoefler and Belli 2015 ("Scientific benchmarking of parallel computing systems"); Bailey 1991 ("Twelve ways
to fool the masses when giving performance results on parallel computers").
"""

from ncc.study.scaling.plan import Run, Setting, SweepConfig
from ncc.study.scaling.programs import ProgramSource
from ncc.study.scaling.results import RunResult
from ncc.study.scaling.sweep import ScalingSweep, bench_scaling, run_sweep

__all__ = [
    "ProgramSource",
    "Run",
    "RunResult",
    "ScalingSweep",
    "Setting",
    "SweepConfig",
    "bench_scaling",
    "run_sweep",
]
