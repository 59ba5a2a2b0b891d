"""What a GPU kernel does to a machine, from its IR: loops, strides of addresses, divergence, work by kind."""

from ncc.kernels.kernels_profile import FEATURE_NAMES, KernelProfile, profile_kernel
from ncc.tasks.coarsening.features import coarsening_features

__all__ = ["FEATURE_NAMES", "KernelProfile", "coarsening_features", "profile_kernel"]
