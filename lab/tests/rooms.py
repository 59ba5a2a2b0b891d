"""All names of evaluations below the public interface that tests use, each in one place."""

from ncc.learning.heads.figures import Estimate
from ncc.learning.heads.figures import calibration_error as stated_calibration_error
from ncc_lab.classification.classify import all_methods as classification_methods
from ncc_lab.classification.classify import (
    class_terms,
    classification,
    count_controls,
    evaluate_classification,
    first_of_each,
)
from ncc_lab.classification.classify import labels_of as classification_labels_of
from ncc_lab.classification.frozen import frozen_methods
from ncc_lab.classification.methods import NetworkMethod, NgramMethod, whole_classifier
from ncc_lab.classification.robustness import measure_head
from ncc_lab.coarsening.chosen_line import Candidate, ChosenLine, LineGrid, fit_lines
from ncc_lab.coarsening.coarsening import PROTOCOLS as COARSENING_PROTOCOLS
from ncc_lab.coarsening.coarsening import (
    CoarseningMethod,
    best_constant,
    dealt_features,
    evaluate_coarsening,
    forest,
    thread_coarsening,
)
from ncc_lab.coarsening.coarsening import all_methods as coarsening_methods
from ncc_lab.coarsening.coarsening import splits as coarsening_splits
from ncc_lab.coarsening.coarsening import standard_controls as coarsening_controls
from ncc_lab.coarsening.coarsening import terms as coarsening_terms
from ncc_lab.coarsening.features import FEATURE_NAMES as COARSENING_FEATURE_NAMES
from ncc_lab.coarsening.features import coarsening_features
from ncc_lab.coarsening.lstm import LSTMMethod
from ncc_lab.coarsening.sample_features import opcode_histograms as coarsening_opcode_histograms
from ncc_lab.coarsening.sample_features import sample_features
from ncc_lab.comparison import Comparison, Result, compare
from ncc_lab.controls import majority
from ncc_lab.devices import devmap, times
from ncc_lab.devices.devmap import PROTOCOLS as DEVICE_PROTOCOLS
from ncc_lab.devices.devmap import UNITS as DEVICE_UNITS
from ncc_lab.devices.devmap import DeviceMethod, device_mapping, evaluate_devmap, static_choice_is_gpu
from ncc_lab.devices.devmap import splits as device_splits
from ncc_lab.devices.devmap import standard_controls as device_controls
from ncc_lab.devices.devmap import standard_methods as device_methods
from ncc_lab.devices.devmap import terms as device_terms
from ncc_lab.devices.intervals import Claims, compare_intervals, group_trials, score_claims
from ncc_lab.devices.mapper import MapperInputs, MapperMethod, Process, ScoreCalibration, Term, blocks_of, standardise
from ncc_lab.devices.samples import load_vectors
from ncc_lab.embedding.analogies import (
    PUBLISHED_ANALOGIES,
    GroupScore,
    KindScore,
    rank_answers,
    score_analogies,
    score_groups,
)
from ncc_lab.embedding.coverage import Miss, measure_coverage
from ncc_lab.embedding.distance import CATEGORIES, score_distance
from ncc_lab.embedding.evaluation import IntrinsicScores, evaluate_embedding
from ncc_lab.embedding.picture import FAMILIES, MARKS, Projection, family_of, project, write_html, write_png
from ncc_lab.embedding.questions import GROUPS, generate_questions
from ncc_lab.embedding.questions import KINDS as EMBEDDING_KINDS
from ncc_lab.embedding.statements import is_exact, struct_fields
from ncc_lab.figures import calibration_error, estimate, geomean, macro_f1, mean, mean_where, show
from ncc_lab.frame import HoldOut, Kind, Method, Subset, Task
from ncc_lab.gpus.comparison import Predictions, figures_of
from ncc_lab.gpus.residuals import KernelCode, recurrent_residual, with_vectors
from ncc_lab.peers import deeptune, inst2vec, ir2vec
from ncc_lab.peers.deeptune import DeepTune
from ncc_lab.peers.deeptune_coarsening import (
    CoarseningDeepTune,
    LanguageModel,
    deeptune_training,
    pretrain_language_model,
)
from ncc_lab.peers.grewe import grewe, grewe_features
from ncc_lab.peers.inst2vec import Inst2vec
from ncc_lab.peers.ir2vec import encode_function, function_vectors, ir2vec_trees
from ncc_lab.peers.magni import MagniCascade
from ncc_lab.peers.recurrent import RecurrentTraining
from ncc_lab.plots import clip, fraction_within
from ncc_lab.retrieval import metrics
from ncc_lab.retrieval.calibration import calibrate, fit_calibration
from ncc_lab.retrieval.calibration import main as calibration_script
from ncc_lab.retrieval.ir2vec import IR2VecWheel, is_installed
from ncc_lab.retrieval.methods import Units, all_representations
from ncc_lab.retrieval.metrics import average_precisions, expanded, map_at_r, pool_scores
from ncc_lab.retrieval.pools import LEAST, anonymous, own_functions_of
from ncc_lab.retrieval.programs import compare_retrieval
from ncc_lab.scaling import processes
from ncc_lab.scaling.plan import PlannedRun, Setting, SweepConfig
from ncc_lab.scaling.prediction import LINKS, Step, StepModel, predict_scaling
from ncc_lab.scaling.programs import ProgramSource
from ncc_lab.scaling.report import sweep_parts
from ncc_lab.scaling.results import EpochEnd, Measured, Phases, RunOrder, RunResult, load, save
from ncc_lab.scaling.scores import Spread, break_even, score_settings
from ncc_lab.scaling.sweep import ScalingSweep, run_sweep
from ncc_lab.vectors.inst2vec import load_inst2vec, modernize_statement
