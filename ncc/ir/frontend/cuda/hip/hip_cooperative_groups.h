/* HIP's name for CUDA's. */
#include "hip_runtime.h"
#include "../cooperative_groups.h"
