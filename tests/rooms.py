"""All names below the public interface that tests use, each in one place."""

from ncc.cli.main import VERBS, app, report_crashes
from ncc.cli.printing import print_progress
from ncc.ir.frontend.allowed_paths import compile_permissions
from ncc.ir.frontend.clang import find_compiler
from ncc.ir.frontend.compile import compile_source, with_header
from ncc.ir.frontend.device_code import compile_device_code
from ncc.ir.frontend.languages import language_of
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.project import header_folders, own_flags
from ncc.ir.frontend.run import FinishedProcess, TranslationUnit, compile_error
from ncc.ir.frontend.snippets import compile_program
from ncc.ir.graph.contexts import MAX_WIDTH, count_contexts
from ncc.ir.graph.draw import edge_curves, to_html
from ncc.ir.graph.export import EXPORTERS
from ncc.ir.graph.layout import MAX_ROW_CHARS, Drawing, Layout
from ncc.ir.graph.xfg import XFG, EdgeKind, build_xfg
from ncc.ir.inputs import find_inputs, load_module, load_program
from ncc.ir.reader import llvm, native
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.functions import find_function
from ncc.ir.reader.llvm import LLVMWork, print_module, stop_helper
from ncc.ir.reader.locations import Location, function_locations
from ncc.ir.reader.module import Module, NodeKind
from ncc.ir.reader.native import OPCODES, IRSyntaxError, find_literals, read_text
from ncc.ir.reader.objects import is_bitcode
from ncc.ir.reader.optimized import modern_text, optimize_if_needed
from ncc.ir.reader.reader import print_canonically, read_module
from ncc.kernels.addresses import thread_strides
from ncc.kernels.control_flow import branch_probability, find_loops
from ncc.kernels.cpu_cost import CYCLE_KINDS, cpu_cycles
from ncc.kernels.execution import Execution
from ncc.kernels.host.launches import HostCode, read_host
from ncc.kernels.instructions import Instruction, decode
from ncc.kernels.launch import Launch
from ncc.kernels.measure import opencl
from ncc.kernels.measure.arguments import (
    Argument,
    NDRange,
    evaluate_size,
    fill,
    launch_range,
    read_annotations,
)
from ncc.kernels.measure.opencl import Device, choose_devices, open_device
from ncc.kernels.measure.sources import SHIPPED_KERNELS, find_kernels
from ncc.kernels.measure.sweep import Sweep
from ncc.kernels.measure.table import COLUMNS, MeasuredTime, load_rows
from ncc.kernels.measure.table import read_times as devices_read_times
from ncc.kernels.work import FEATURE_NAMES, CountedStatement, Work, count_work, flops_of, integer_operations_of
from ncc.learning.corpus import build as corpus_build
from ncc.learning.corpus.recipe import Attempt, CorpusFile, Recipe, Source, find_files, load_recipe
from ncc.learning.data import registry as data
from ncc.learning.data.archives import Budget, extract_archive, iter_members
from ncc.learning.data.registry import DatasetCard, DatasetFile, FileState, extracted, locate, verify
from ncc.learning.embedding.backoff import Backoff, generalize, opcode_of, split_constant_offset, strip_inferred_flags
from ncc.learning.embedding.config import EmbeddingConfig
from ncc.learning.embedding.counts import (
    CorpusCounts,
    CountsBuilder,
    load_counts,
    save_counts,
    sum_counts,
    width_folder,
)
from ncc.learning.embedding.embedding import Embedding, compose_missing, l2_normalize, load_embedding
from ncc.learning.embedding.extend import extend_embedding
from ncc.learning.embedding.gensim import PairStream, train_gensim
from ncc.learning.embedding.skipgram import WeightedPairs, skipgram_loss, train_skipgram
from ncc.learning.embedding.subwords import subword_matrix, subwords_of
from ncc.learning.embedding.train import fit_embedding, load_abstraction, load_corpora
from ncc.learning.embedding.vocabulary import Vocabulary, build_vocabulary
from ncc.learning.encoder.batches import SequenceData, Sequences, network_outputs
from ncc.learning.encoder.config import EncoderConfig, EncoderTraining, HeadConfig, program_encoder, program_head
from ncc.learning.encoder.contrastive import ContrastiveData, contrastive_loss, fit_contrastive
from ncc.learning.encoder.linear import LinearEncoder
from ncc.learning.encoder.linear_fit import LabelledPatterns, fit_encoder
from ncc.learning.encoder.network import EncoderNetwork
from ncc.learning.encoder.network_numpy import LSTMEncoder, NumpyNetwork, ProgramNetwork
from ncc.learning.encoder.patterns import BITS, PatternCounts, count_patterns
from ncc.learning.encoder.patterns import KINDS as ENCODER_KINDS
from ncc.learning.encoder.pooling import POOLINGS, Pooler, load_encoder, load_pooler
from ncc.learning.programs import labelled as samples
from ncc.learning.programs.ir_cache import CachingCompiler, file_key, read_compressed
from ncc.learning.programs.labelled import (
    LabelledFiles,
    ProgramSamples,
    choose_classes,
    find_labelled_files,
    load_programs,
)
from ncc.learning.programs.names import is_library_function, library_name
from ncc.learning.programs.table import ProgramTable, concatenate, describe_program, statement_literals
from ncc.learning.training import precision
from ncc.learning.training.checkpoint import EpochRng, TrainProgress
from ncc.learning.training.config import COMPRESSIONS, STRATEGIES, TrainingConfig, TrainingStatistics
from ncc.learning.training.loop import train
from ncc.learning.training.precision import Precision
from ncc.learning.training.ranks import broadcast_result, process_group, rank_and_world, share_files
from ncc.system.files import models as storage
from ncc.system.files import reading as found
from ncc.system.files.archives import list_members
from ncc.system.files.models import read_model, read_tensors, read_whole, write_model
from ncc.system.files.pages import html_table
from ncc.system.files.reading import InputFile, read_input
from ncc.system.files.summaries import Summary, format_ratio
from ncc.system.files.tables import VectorFile
from ncc.system.files.text import (
    align_columns,
    demangle,
    escape_control,
    format_bytes,
    format_ends,
    format_given_bytes,
    format_interval,
    parse_bytes,
    parse_items,
)
from ncc.system.files.writing import folder_lock, open_atomically, write_atomically
from ncc.system.sandbox import confine as confinement
from ncc.system.sandbox import limits
from ncc.system.sandbox.confine import Permissions, confine, describe_confinement, landlock_version
from ncc.system.sandbox.limits import GIGABYTE, input_limit, memory_limit, output_limit
from ncc.system.sandbox.process import WatchedProcess, python_command, signal_name
from ncc.system.workers.pool import Pool
from ncc.tasks.classification.config import NetworkTraining
from ncc.tasks.classification.head import ClassifierHead
from ncc.tasks.classification.network import fit_network
from ncc.tasks.classification.ngrams import NgramModel, encoded_programs, fit_ngrams, hashed_ngrams, ngram_scores
from ncc.tasks.classification.train import (
    calibrate,
    fit_classifier,
    near_duplicates,
    probabilities,
    split_programs,
    split_samples,
)
from ncc.tasks.coarsening.head import LineHead, divergent_share, load_coarsening_head
from ncc.tasks.coarsening.train import (
    DEVICES,
    FACTORS,
    CoarseningTimes,
    clamp_to_measured,
    complete_log_speedups,
    fit_line,
    load_kernel_ir,
)
from ncc.tasks.coarsening.train import LSTMTraining as LSTMCoarseningTraining
from ncc.tasks.coarsening.train import fit_lstm as fit_coarsening_lstm
from ncc.tasks.coarsening.train import read_times as read_coarsening_times
from ncc.tasks.devices.features import WORK_WIDTH, KernelFeatures, KernelWork, code_columns
from ncc.tasks.devices.head import PLATFORMS, TimesHead, load_device_head
from ncc.tasks.devices.train import load_legacy_ir, suite_launches
from ncc.tasks.gpus.tables import read_launches
from ncc.tasks.gpus.train import Launches, device_sources, fit_gpus, program_folds
from ncc.tasks.search import build as search_build
from ncc.tasks.search import store as search_store
from ncc.tasks.search.calibration import Calibration, shipped_calibration
from ncc.tasks.search.pages import similar_page, source_lines
from ncc.tasks.search.store import IndexCard, Store, content_hash
from ncc.verbs.predict import classify, compare_times
from ncc.verbs.train import build_corpus
from ncc_lab.coarsening.samples import CoarseningSamples
from ncc_lab.coarsening.samples import load_samples as coarsening_load_samples
from ncc_lab.coarsening.samples import read_table as read_runtimes
from ncc_lab.devices.samples import DeviceMappingSamples, read_table
from ncc_lab.devices.samples import load_samples as devices_load_samples
