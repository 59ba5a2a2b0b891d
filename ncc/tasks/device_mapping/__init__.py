"""Heterogeneous device mapping: does a kernel run faster on the CPU or on the GPU, and by how much?

Samples and protocols of Cummins et al. (PACT 2017), stricter protocols, controls and scores.
"""

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
from ncc.tasks.device_mapping.evaluation import DeviceMappingScore, evaluate
from ncc.tasks.device_mapping.metrics import Bootstrap, Estimate, Metrics, measure, static_choice_is_gpu
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
    "independent_unit",
    "load_legacy_ir",
    "load_samples",
    "measure",
    "numeric_trees",
    "opcode_forest",
    "random_vector_forest",
    "read_table",
    "splits",
    "standard_controls",
    "static_choice_is_gpu",
]
