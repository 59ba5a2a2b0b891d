"""All names of the lab below its public interface that tests use, each in one place."""

from ncc_lab.coarsening.chosen_line import chosen_line, fit_chosen_line, fit_lines
from ncc_lab.coarsening.coarsening import PROTOCOLS as COARSENING_PROTOCOLS
from ncc_lab.coarsening.coarsening import all_methods as coarsening_methods
from ncc_lab.coarsening.coarsening import best_constant, dealt_features, forests, sample_features
from ncc_lab.coarsening.coarsening import splits as coarsening_splits
from ncc_lab.coarsening.coarsening import standard_controls as coarsening_controls
from ncc_lab.coarsening.coarsening import terms as coarsening_terms
from ncc_lab.coarsening.features import FEATURE_NAMES, coarsening_features
from ncc_lab.devices.devmap import PROTOCOLS as DEVICE_PROTOCOLS
from ncc_lab.devices.devmap import UNITS as DEVICE_UNITS
from ncc_lab.devices.devmap import splits as device_splits
from ncc_lab.devices.devmap import standard_controls as device_controls
from ncc_lab.devices.devmap import standard_methods as device_methods
from ncc_lab.devices.devmap import terms as device_terms
from ncc_lab.devices.mapper import ScoreCalibration, Term, mapper
from ncc_lab.embedding.coverage import measure_coverage
from ncc_lab.embedding.intrinsic import CATEGORIES, rank_answers, score_analogies, score_distance, score_groups
from ncc_lab.embedding.picture import MARKS, Projection, family_of, project, write_png
from ncc_lab.embedding.questions import GROUPS, KINDS, generate_questions
from ncc_lab.embedding.statements import is_exact
from ncc_lab.figures import Estimate, calibration_error, estimate, geomean, macro_f1, mean, mean_where, show
from ncc_lab.gpus.comparison import Predictions, figures_of
from ncc_lab.gpus.residuals import KernelCode, recurrent_residual, with_vectors
from ncc_lab.options import Figures, evaluation
from ncc_lab.peers.counts import grewe, grewe_features, magni_cascade
from ncc_lab.peers.ir2vec import encode_function, ir2vec_trees
from ncc_lab.peers.sequences import (
    LanguageModel,
    RecurrentTraining,
    SourceVocabulary,
    coarsening_deeptune,
    deeptune,
    inst2vec,
    pretrain_language_model,
    read_statements,
)
from ncc_lab.programs.classify import all_methods as all_classifiers
from ncc_lab.programs.classify import class_terms, count_controls, first_of_each
from ncc_lab.programs.classify import labels_of as label_of
from ncc_lab.programs.methods import frozen_methods, ngrams
from ncc_lab.programs.robustness import measure_head
from ncc_lab.retrieval.calibration import calibrate, fit_calibration
from ncc_lab.retrieval.calibration import main as calibration_script
from ncc_lab.retrieval.methods import Units, all_representations
from ncc_lab.retrieval.metrics import average_precisions, expanded, map_at_r, pool_scores
from ncc_lab.retrieval.pools import LEAST, anonymous, own_functions_of
from ncc_lab.retrieval.programs import compare_retrieval
from ncc_lab.scaling.plan import PlannedRun, Setting, SweepConfig
from ncc_lab.scaling.prediction import LINKS, Step, predict_scaling, step_seconds
from ncc_lab.scaling.programs import ProgramSource
from ncc_lab.scaling.runs import PHASES, EpochEnd, Measured, RunResult, start_run, worker_command
from ncc_lab.scaling.scores import Spread, break_even, score_settings
from ncc_lab.scaling.sweep import ScalingSweep, run_sweep
from ncc_lab.vectors.inst2vec import load_inst2vec, modernize_statement
