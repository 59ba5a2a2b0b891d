"""What a GPU kernel does to a machine, from its IR: loops, strides of addresses, divergence, work by kind."""

from ncc.kernels.coarsening_features import coarsening_features
from ncc.kernels.profile import FEATURE_NAMES, KernelProfile, profile_kernel

__all__ = ["FEATURE_NAMES", "KernelProfile", "coarsening_features", "profile_kernel"]
