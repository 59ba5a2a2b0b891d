"""All names below the public interface that tests use, each in one place."""

from ncc import api, classification, coarsening, data, devices, native
from ncc.api.vectors import EmbeddedModule, save_vectors
from ncc.classification import fit, samples
from ncc.classification.files import FILES as CLASSIFIER_FILES
from ncc.classification.files import load_classifier, save_classifier
from ncc.classification.fit import CombinedMethod
from ncc.classification.head import ClassifierHead
from ncc.classification.loading import choose_classes
from ncc.classification.network_fit import NetworkMethod, NetworkTraining, encode_programs, paper_training, program_data
from ncc.classification.network_model import LONGEST, ProgramNetwork, program_encoder, program_head
from ncc.classification.ngram_fit import NgramMethod, encoded_programs
from ncc.classification.ngram_model import NgramModel, hashed_ngrams
from ncc.classification.predict import classify
from ncc.classification.reading import ProgramReader, file_key
from ncc.classification.refit import refit_classifier
from ncc.classification.samples import LabelledFiles, ProgramSamples, find_labelled_files, load_programs
from ncc.classification.scoring import probabilities
from ncc.cli import app, output
from ncc.cli.errors import told_defects
from ncc.cli.output import print_rows
from ncc.coarsening.features import opcode_histograms as coarsening_opcode_histograms
from ncc.coarsening.features import sample_features
from ncc.coarsening.files import FILES as COARSENING_FILES
from ncc.coarsening.files import load_coarsening_head, save_coarsening_head
from ncc.coarsening.fit import Candidate, ChosenLine, LineGrid, fit_lines
from ncc.coarsening.head import CoarseningHead
from ncc.coarsening.lstm_fit import LSTMMethod, SpeedupTraining, load_words
from ncc.coarsening.lstm_head import LSTMCoarseningHead, device_columns
from ncc.coarsening.predict import predict_coarsening
from ncc.coarsening.samples import (
    DEVICE_TITLES,
    DEVICES,
    FACTORS,
    CoarseningSamples,
    clamp_to_measured,
    complete_log_speedups,
    load_kernel_ir,
    read_tables,
)
from ncc.coarsening.samples import load_samples as coarsening_load_samples
from ncc.coarsening.table import read_times as coarsening_read_times
from ncc.corpus import build as corpus_build
from ncc.corpus.batch import Batch, Tally
from ncc.corpus.build import CorpusReport, build_corpus
from ncc.corpus.compiler import Compiler
from ncc.corpus.files import CorpusFile, find_files
from ncc.corpus.recipe import Attempt, Recipe, Source, load_recipe
from ncc.data import archives, extracted, locate, verify
from ncc.data.archives import extract_archive, iter_members
from ncc.data.cards import DatasetCard, DatasetFile
from ncc.data.registry import FileState, Registry
from ncc.devices.constants import fit_constants
from ncc.devices.curve import DeviceCurve, plot_curves, predict_device_curve
from ncc.devices.explain import explain_device
from ncc.devices.files import FILES as DEVICE_FILES
from ncc.devices.files import PLATFORMS, load_device_head, save_device_head
from ncc.devices.fit import LaunchSamples, fit_times, hold_out
from ncc.devices.head import TimesHead, faded
from ncc.devices.inputs import KernelInputs, check_sizes, describe_kernel
from ncc.devices.models import LONGEST_READ, distinct_kernels
from ncc.devices.physics import LAUNCH_TERMS, NUM_TERMS, PRIORS, PUBLISHED_TERMS, Physics
from ncc.devices.predict import predict_device
from ncc.devices.published import load_inputs
from ncc.devices.samples import DeviceMappingSamples, Platform, load_legacy_ir, read_table
from ncc.devices.samples import load_samples as devices_load_samples
from ncc.devices.table import COLUMNS, LaunchTimes
from ncc.devices.table import read_times as devices_read_times
from ncc.devices.work import NUM_KINDS, WORK_WIDTH, counts_at, work_at
from ncc.embedding.backoff import BackoffLevel, generalise, in_newer_steps, of_any_version, opcode_of
from ncc.embedding.checkpoint import load_checkpoint, save_checkpoint
from ncc.embedding.config import SkipGramConfig
from ncc.embedding.counts import CorpusCounts, CountsBuilder, load_counts, save_counts, width_folder
from ncc.embedding.embedding import Embedding, compose_missing, load_embedding, normalised, save_embedding
from ncc.embedding.extension import extend_embedding
from ncc.embedding.fit import fit_embedding, load_abstraction, load_corpora
from ncc.embedding.gensim_engine import GensimConfig, PairStream, train_gensim
from ncc.embedding.merge import merge_counts
from ncc.embedding.pairs import WeightedPairs, pair_weights
from ncc.embedding.skipgram import train_skipgram
from ncc.embedding.skipgram_loss import Blocks, skipgram_loss
from ncc.embedding.skipgram_model import _add_gradients
from ncc.embedding.statement_parts import part_matrix, parts_of
from ncc.embedding.vocabulary import Vocabulary, build_vocabulary
from ncc.encoder.batches import SequenceData, Sequences, distinct_sequences, network_outputs
from ncc.encoder.config import EncoderConfig, HeadConfig
from ncc.encoder.contrastive import ContrastiveData, ContrastiveTraining, contrastive_loss, fit_contrastive
from ncc.encoder.encoders import load_encoder, save_encoder
from ncc.encoder.linear_encoder import LinearEncoder
from ncc.encoder.linear_encoder_fit import LabelledPatterns, LinearEncoderTraining, fit_encoder
from ncc.encoder.literals import statement_literals
from ncc.encoder.lstm import EncoderNetwork
from ncc.encoder.lstm_encoder import LSTMEncoder, load_lstm_encoder, save_lstm_encoder
from ncc.encoder.lstm_numpy import NumpyNetwork
from ncc.encoder.names import is_library_function, library_name
from ncc.encoder.patterns import BITS, PatternCounts, count_patterns
from ncc.encoder.patterns import KINDS as ENCODER_KINDS
from ncc.encoder.pooling import POOLERS, IdfPooler, MeanPooler, load_pooler
from ncc.encoder.program import EncodedProgram, ProgramTable, concatenate, describe_program
from ncc.frontend import SOURCE_EXTENSIONS, run_compiler
from ncc.frontend.compilation import compile_source
from ncc.frontend.compilers import find_compiler
from ncc.frontend.device_code import compile_device_code
from ncc.frontend.diagnostics import FinishedProcess, compile_error
from ncc.frontend.languages import language_of
from ncc.frontend.mending import compile_program
from ncc.frontend.options import CompileOptions
from ncc.frontend.permissions import compile_permissions
from ncc.frontend.precompiled import with_header
from ncc.frontend.searching import header_folders
from ncc.gpus.expressions import call_known, evaluate_expression, split_arguments
from ncc.gpus.fit import fit_gpus, program_folds
from ncc.gpus.host import HostCode
from ncc.gpus.measured import Launches
from ncc.gpus.sources import device_sources, host_arguments
from ncc.gpus.table import read_launches
from ncc.graph import EXPORTERS
from ncc.graph.contexts import MAX_WIDTH, context_pairs, count_contexts
from ncc.graph.drawing import LONGEST_ROW, Drawing, draw_function, draw_functions
from ncc.graph.export import node_kind, to_dot, to_graphml, to_json, to_networkx
from ncc.graph.picture import edge_curves, page_data, to_html, to_svg
from ncc.graph.xfg import XFG, EdgeKind, build_xfg
from ncc.inputs import expand_inputs, load_module, load_program
from ncc.ir import OPCODES, llvm
from ncc.ir.abstraction import Abstraction
from ncc.ir.agreement import find_mismatch
from ncc.ir.functions import find_function
from ncc.ir.llvm import LLVMWork, print_module, stop_helper
from ncc.ir.module import Module, NodeKind, opcode_number
from ncc.ir.objects import is_bitcode
from ncc.ir.older import modern_text
from ncc.ir.optimised import as_if_optimised
from ncc.ir.places import Place, function_places
from ncc.ir.reader import print_canonically, read_module
from ncc.kernels import FEATURE_NAMES
from ncc.kernels.branches import likely_share
from ncc.kernels.coarsening_features import FEATURE_NAMES as COARSENING_FEATURE_NAMES
from ncc.kernels.coarsening_features import coarsening_features
from ncc.kernels.control_flow import Loop, find_loops, successors
from ncc.kernels.costs import flops_of, integer_operations_of
from ncc.kernels.counting import count_kernel
from ncc.kernels.cycles import CYCLE_KINDS, count_cycles
from ncc.kernels.frequencies import FunctionRuns
from ncc.kernels.launch import Launch
from ncc.kernels.profile import KernelProfile, profile_kernel
from ncc.kernels.reading import read_kernels
from ncc.kernels.registers import register_of
from ncc.kernels.strides import constant_operand
from ncc.kernels.threads import callee_name, thread_strides
from ncc.kernels.types import size_of_type
from ncc.measure.arguments import Argument, Shape, evaluate_size, fill, num_bytes, read_rules, shape_of
from ncc.measure.bench import SHIPPED_KERNELS, Bench, find_kernels
from ncc.measure.choice import Chooser, covariance_of
from ncc.measure.merging import without_other_kernels
from ncc.measure.opencl import Device, choose_devices, list_devices, open_device
from ncc.measure.sweep import measure_kernels
from ncc.measure.table import MeasuredTable, MeasuredTime
from ncc.measure.timing import Job, run_job
from ncc.native import IRSyntaxError, find_literals, read_text
from ncc.runtime import confinement, crew, found, limits, storage
from ncc.runtime.archive import Member, list_members
from ncc.runtime.confinement import (
    Permissions,
    confine,
    describe_confinement,
    landlock_version,
    quiet_environment,
    require_confinement,
)
from ncc.runtime.crew import run_unwatched, work_through
from ncc.runtime.found import FoundFile, read_file
from ncc.runtime.limits import GIGABYTE, input_limit, memory_limit, output_limit
from ncc.runtime.printable import printable, source_name
from ncc.runtime.processes import WatchedProcess, python_command, signal_name, wait_for_answers
from ncc.runtime.quantities import parse_bytes, readable_bytes
from ncc.runtime.ranks import found_by_first, process_group, rank_and_world, share_files, sum_over_ranks
from ncc.runtime.storage import (
    open_atomically,
    read_compressed,
    read_json,
    read_model,
    read_tensors,
    read_whole,
    write_atomically,
    write_compressed,
    write_model,
    write_output,
)
from ncc.runtime.tables import vector_table, write_vectors
from ncc.runtime.workers import Workers, _limits
from ncc.runtime.writable import only_writer
from ncc.search import build as search_build
from ncc.search import parts
from ncc.search.calibration import Calibration, fit_calibration, load_calibration, save_calibration, shipped_calibration
from ncc.search.pages import side_by_side, similar_page, source_lines
from ncc.training import COMPRESSIONS, STRATEGIES, precision
from ncc.training.checkpoint import CheckpointClock, Position
from ncc.training.compression import CHUNK, LowRank, Quantized, TopK, make_compression
from ncc.training.config import TrainingConfig, TrainingStatistics
from ncc.training.cuda_graphs import GraphedSteps
from ncc.training.draws import Draws
from ncc.training.exchange import Exchange
from ncc.training.loop import train
from ncc.training.optimizer import ClippedAdamW
from ncc.training.precision import Precision, shared_precisions
from ncc.training.strategies import make_strategy
from ncc.training.strategies.base import BatchPart
from ncc.training.tuning import SearchTrial, search
