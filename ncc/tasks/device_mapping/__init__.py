"""Heterogeneous device mapping: does a kernel run faster on the CPU or on the GPU, and by how much?

Samples and protocols of Cummins et al. (PACT 2017), stricter protocols, controls and scores.
"""

from ncc.tasks.bootstrap import Bootstrap, Estimate
from ncc.tasks.device_mapping.controls import (
    Constant,
    DeviceMethod,
    Majority,
    TreeConfig,
    TreeMethod,
    auxiliary_trees,
    numeric_trees,
    opcode_forest,
    random_vector_forest,
    standard_controls,
)
from ncc.tasks.device_mapping.evaluation import DeviceMappingScore, evaluate, fold_seed, plan_runs, score_runs
from ncc.tasks.device_mapping.metrics import Metrics, measure, measure_coverage, static_choice_is_gpu
from ncc.tasks.device_mapping.protocols import (
    PROTOCOLS,
    LeakageReport,
    Protocol,
    audit_leakage,
    independent_unit,
    splits,
)
from ncc.tasks.device_mapping.samples import (
    COUNT_NAMES,
    DeviceMappingSamples,
    Platform,
    Unit,
    load_legacy_ir,
    load_samples,
    read_table,
)

__all__ = [
    "COUNT_NAMES",
    "PROTOCOLS",
    "Bootstrap",
    "Constant",
    "DeviceMappingSamples",
    "DeviceMappingScore",
    "DeviceMethod",
    "Estimate",
    "LeakageReport",
    "Majority",
    "Metrics",
    "Platform",
    "Protocol",
    "TreeConfig",
    "TreeMethod",
    "Unit",
    "audit_leakage",
    "auxiliary_trees",
    "evaluate",
    "fold_seed",
    "independent_unit",
    "load_legacy_ir",
    "load_samples",
    "measure",
    "measure_coverage",
    "numeric_trees",
    "opcode_forest",
    "plan_runs",
    "random_vector_forest",
    "read_table",
    "score_runs",
    "splits",
    "standard_controls",
    "static_choice_is_gpu",
]
