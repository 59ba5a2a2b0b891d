"""All names of evaluations below the public interface that tests use, each in one place."""

from ncc.learning.heads.calibration_error import calibration_error
from ncc.learning.heads.figures import Bootstrap, Estimate, estimate
from ncc.study.classification import comparison as classification_comparison
from ncc.study.classification.comparison import all_methods as classification_all_methods
from ncc.study.classification.comparison import compare_classifiers
from ncc.study.classification.controls import count_controls
from ncc.study.classification.controls import labels_of as classification_labels_of
from ncc.study.classification.frozen import frozen_methods
from ncc.study.classification.metrics import fit_temperature, fit_threshold
from ncc.study.classification.metrics import measure as classification_measure
from ncc.study.classification.protocols import near_duplicates, split_programs
from ncc.study.classification.robustness import measure_head
from ncc.study.classification.task import Classification, ClassificationMethod, first_of_each, load_split
from ncc.study.coarsening import comparison as coarsening_comparison
from ncc.study.coarsening.comparison import CoarseningComparison, evaluate_coarsening
from ncc.study.coarsening.comparison import all_methods as coarsening_all_methods
from ncc.study.coarsening.controls import BestConstant, constant_factor, forest
from ncc.study.coarsening.controls import labels_of as coarsening_labels_of
from ncc.study.coarsening.controls import standard_controls as coarsening_standard_controls
from ncc.study.coarsening.metrics import measure as coarsening_measure
from ncc.study.coarsening.protocols import INDEPENDENT_UNITS as COARSENING_INDEPENDENT_UNITS
from ncc.study.coarsening.protocols import PROTOCOLS as COARSENING_PROTOCOLS
from ncc.study.coarsening.protocols import audit_leakage as coarsening_audit_leakage
from ncc.study.coarsening.protocols import splits as coarsening_splits
from ncc.study.coarsening.task import CoarseningMethod, ThreadCoarsening
from ncc.study.controls import Constant, Majority
from ncc.study.devices import comparison as devices_comparison
from ncc.study.devices import methods
from ncc.study.devices.comparison import DeviceComparison, evaluate_devmap
from ncc.study.devices.controls import MajorityDevice, Trees, learned_controls
from ncc.study.devices.controls import standard_controls as devices_standard_controls
from ncc.study.devices.intervals import Claims, compare_intervals, group_trials, score_claims
from ncc.study.devices.mapper import MapperMethod, Process, ScoreCalibration, Term, standardise
from ncc.study.devices.methods import opcode_histograms as devices_opcode_histograms
from ncc.study.devices.methods import standard_methods
from ncc.study.devices.metrics import measure as devices_measure
from ncc.study.devices.metrics import static_choice_is_gpu
from ncc.study.devices.protocols import INDEPENDENT_UNITS as DEVICES_INDEPENDENT_UNITS
from ncc.study.devices.protocols import PROTOCOLS as DEVICES_PROTOCOLS
from ncc.study.devices.protocols import audit_leakage as devices_audit_leakage
from ncc.study.devices.protocols import splits as devices_splits
from ncc.study.devices.task import DeviceMapping, DeviceMethod, fold_seed
from ncc.study.embedding.analogies import (
    PUBLISHED_ANALOGIES,
    GroupScore,
    KindScore,
    rank_answers,
    score_analogies,
    score_groups,
)
from ncc.study.embedding.coverage import Miss, measure_coverage
from ncc.study.embedding.distance import CATEGORIES, score_distance
from ncc.study.embedding.evaluation import IntrinsicScores, evaluate_embedding
from ncc.study.embedding.picture import FAMILIES, MARKS, Projection, family_of, project, write_html, write_png
from ncc.study.embedding.questions import GROUPS, generate_questions
from ncc.study.embedding.questions import KINDS as EMBEDDING_KINDS
from ncc.study.embedding.statements import is_exact, struct_fields
from ncc.study.evaluation import Task, evaluate, score_runs
from ncc.study.gpus.comparison import Predictions, figures_of
from ncc.study.gpus.residuals import KernelCode, recurrent_residual, with_vectors
from ncc.study.leakage import LeakageReport
from ncc.study.peers import deeptune, inst2vec, ir2vec
from ncc.study.peers.deeptune import DeepTune
from ncc.study.peers.deeptune_coarsening import (
    CoarseningDeepTune,
    LanguageModel,
    deeptune_training,
    pretrain_language_model,
)
from ncc.study.peers.grewe import grewe, grewe_features
from ncc.study.peers.inst2vec import Inst2vec
from ncc.study.peers.ir2vec import SeedVectors, encode_function, function_vectors, ir2vec_trees, load_seeds
from ncc.study.peers.magni import MagniCascade
from ncc.study.peers.recurrent import RecurrentTraining
from ncc.study.report.device_figures import reliability
from ncc.study.report.drawing import INK, Dot, clipped, draw_dots
from ncc.study.report.kinds import best_of_kinds
from ncc.study.report.regret import share_within
from ncc.study.report.table import Cell, Column, Row, Table, show, table_of, to_rich, to_text
from ncc.study.retrieval import metrics
from ncc.study.retrieval.ir2vec import IR2VecWheel, is_installed
from ncc.study.retrieval.methods import Units, all_representations
from ncc.study.retrieval.metrics import average_precisions, expanded, map_at_r, pool_scores
from ncc.study.retrieval.pools import LEAST, anonymous, own_functions_of
from ncc.study.retrieval.programs import compare_retrieval
from ncc.study.runs import Kind, Method, Plan, Run, fitted, run_plans
from ncc.study.scaling import processes
from ncc.study.scaling.plan import PlannedRun, Setting, SweepConfig
from ncc.study.scaling.prediction import LINKS, Step, StepModel, predict_scaling
from ncc.study.scaling.programs import ProgramSource
from ncc.study.scaling.report import sweep_parts
from ncc.study.scaling.results import EpochEnd, Measured, Phases, RunOrder, RunResult, load, save
from ncc.study.scaling.scores import Spread, break_even, score_settings
from ncc.study.scaling.sweep import ScalingSweep, run_sweep
from ncc.study.vectors.entities import operand_kinds, result_type
from ncc.study.vectors.inst2vec import load_inst2vec
from ncc.study.vectors.ir2vec import load_ir2vec, read_seeds
from ncc.study.vectors.modernise import modernise_statement
from ncc.tasks.classification import tuning
from ncc.tasks.classification.train_head import fit_classifier
from ncc.tasks.coarsening.train_head import fit_coarsening_head, train_coarsening
from ncc.tasks.devices import calibrate as own_machine
from ncc.tasks.devices import times
from ncc.tasks.devices import train as train_head
from ncc.tasks.devices.train import train_devmap
