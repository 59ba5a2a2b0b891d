"""Abstraction of statements: what is kept when one becomes a word, and the external names that mean something.

These are the settings. It is done in C while a module is read: `ncc/ir/native/statements.c` writes each statement, and
`ncc/ir/native/values.c` what becomes of its locals, globals and constants.

Reference: Ben-Nun et al. 2018, section 4.1. What callees, immediates and large structures keep is ours to choose.
"""

from dataclasses import dataclass

from ncc.errors import InputError

_LIBM = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 exp10 expm1 fabs fdim floor fma
fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint
nextafter pow remainder remquo rint round scalbn sin sincos sinh sqrt tan tanh tgamma trunc
"""
_LIBC = """
memcpy memmove memset memcmp memchr strlen strnlen strcpy strncpy strcat strncat strcmp strncmp strcasecmp strchr
strrchr strstr strtok strdup strtol strtoul strtoll strtoull strtod atoi atol atof malloc calloc realloc free
posix_memalign aligned_alloc abort exit qsort bsearch abs labs llabs rand srand printf fprintf sprintf snprintf vprintf
vfprintf vsnprintf scanf fscanf sscanf puts putchar fputs fputc putc gets fgets getchar fgetc getc fopen fclose fread
fwrite fseek ftell fflush isalpha isdigit isalnum isspace isupper islower toupper tolower time clock getline
__isoc99_scanf __isoc99_sscanf __isoc99_fscanf __isoc23_scanf __isoc23_sscanf __isoc23_strtol __assert_fail
"""
_CXX_RUNTIME = """
_Znwm _Znam _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm __cxa_throw __cxa_allocate_exception __cxa_free_exception __cxa_begin_catch
__cxa_end_catch __cxa_rethrow __cxa_guard_acquire __cxa_guard_release __cxa_atexit __clang_call_terminate
_Unwind_Resume __dynamic_cast __cxa_pure_virtual
"""
_OPENCL = """
get_work_dim get_global_size get_global_id get_local_size get_enqueued_local_size get_local_id get_num_groups
get_group_id get_global_offset get_global_linear_id get_local_linear_id barrier work_group_barrier sub_group_barrier
mem_fence read_mem_fence write_mem_fence get_sub_group_size get_sub_group_id get_sub_group_local_id
async_work_group_copy async_work_group_strided_copy wait_group_events prefetch atomic_add atomic_sub atomic_xchg
atomic_inc atomic_dec atomic_cmpxchg atomic_min atomic_max atomic_and atomic_or atomic_xor atom_add atom_sub atom_xchg
atom_inc atom_dec atom_cmpxchg atom_min atom_max atom_and atom_or atom_xor atomic_fetch_add atomic_load atomic_store
read_imagef read_imagei read_imageui read_imageh write_imagef write_imagei write_imageui get_image_width
get_image_height get_image_depth mad mad24 mul24 mad_hi mul_hi mad_sat add_sat sub_sat hadd rhadd abs_diff clz ctz
popcount rotate upsample min max clamp mix step smoothstep sign degrees radians cross dot distance length normalize
fast_distance fast_length fast_normalize isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater
isfinite isinf isnan isnormal signbit any all bitselect select shuffle shuffle2 acospi asinpi atanpi atan2pi cospi sinpi
tanpi maxmag minmag fract pown powr rootn rsqrt half_cos half_divide half_exp half_exp2 half_exp10 half_log half_log2
half_log10 half_powr half_recip half_rsqrt half_sin half_sqrt half_tan native_cos native_divide native_exp native_exp2
native_exp10 native_log native_log2 native_log10 native_powr native_recip native_rsqrt native_sin native_sqrt native_tan
sub_group_shuffle sub_group_shuffle_xor sub_group_shuffle_up sub_group_shuffle_down intel_sub_group_shuffle
intel_sub_group_shuffle_xor intel_sub_group_shuffle_up intel_sub_group_shuffle_down sub_group_ballot
sub_group_reduce_min sub_group_reduce_max work_group_all work_group_any work_group_broadcast work_group_reduce_add
sub_group_all sub_group_any sub_group_broadcast sub_group_reduce_add
"""
_SPIRV = """
BuiltInLocalInvocationIndex BuiltInGlobalLinearId BuiltInLocalInvocationId BuiltInGlobalInvocationId BuiltInWorkgroupId
BuiltInNumWorkgroups BuiltInWorkgroupSize BuiltInEnqueuedWorkgroupSize BuiltInGlobalSize
BuiltInSubgroupLocalInvocationId BuiltInSubgroupSize ControlBarrier MemoryBarrier GroupNonUniformShuffle
GroupNonUniformShuffleXor GroupNonUniformShuffleUp GroupNonUniformShuffleDown GroupNonUniformBroadcast
GroupNonUniformBallot GroupNonUniformAll GroupNonUniformAny GroupNonUniformIAdd GroupNonUniformFAdd
"""
_OPENCL_LANES = tuple(f"{name}{lanes}" for name in ("vload", "vstore") for lanes in (2, 3, 4, 8, 16, "_half"))
_CUDA = (
    "vprintf __assertfail __syncthreads __nv_sinf __nv_cosf __nv_expf __nv_logf __nv_powf __nv_sqrtf __nv_exp __nv_pow"
)

KNOWN_CALLEES: frozenset[str] = frozenset(
    [name + suffix for name in _LIBM.split() for suffix in ("", "f", "l")]
    + (_LIBC + _CXX_RUNTIME + _OPENCL + _CUDA).split()
    + list(_OPENCL_LANES)
    + [f"__spirv_{name}" for name in _SPIRV.split()]
)
"""External functions whose name is kept: libm, libc, the C++ runtime, OpenCL's and SPIR-V's built-ins (mangled or
not)."""
_KNOWN_CALLEES = "\n".join(sorted(KNOWN_CALLEES)).encode()


@dataclass(frozen=True, kw_only=True)
class Abstraction:
    """How statements are abstracted.

    Attributes:
        keep_callees: LLVM intrinsics, external functions of `KNOWN_CALLEES`, and the variables that are SPIR-V's
            registers keep their name (``@get_global_id``, ``@llvm.fmuladd``, ``@__spirv_BuiltInWorkgroupId``); False
            abstracts them to ``<@ID>``.
        keep_immediates: Integers -1, 0, 1, 2, other powers of two and other negative ones keep a bucket of their own
            (``<INT:0>``); False abstracts them all to ``<INT>``.
        max_struct_fields: Structures with more fields, those of nested structures included, are written ``{...}``:
            what a large one is made of names the project that it is from rather than what is done; None for no limit.
        keep_casts: Casts of typed pointers to other ones, of which LLVM has none since 15, are statements; False lets
            the result be another name of the operand.
    """

    keep_callees: bool = True
    keep_immediates: bool = False
    max_struct_fields: int | None = 4
    keep_casts: bool = False

    def __post_init__(self) -> None:
        """Checks the range."""
        if self.max_struct_fields is not None and not 0 <= self.max_struct_fields < 1 << 31:
            found = f"{self.max_struct_fields!s:.40}"
            raise InputError(f"max_struct_fields is {found}; expected 0 or more and less than 2^31, or None")

    @classmethod
    def paper(cls) -> "Abstraction":
        """The published abstraction: no names or immediates, but casts (Ben-Nun et al. 2018, section 4.1)."""
        return cls(keep_callees=False, keep_immediates=False, max_struct_fields=None, keep_casts=True)

    @property
    def known_callees(self) -> bytes | None:
        """The kept names, one per line, or None to keep none."""
        return _KNOWN_CALLEES if self.keep_callees else None
