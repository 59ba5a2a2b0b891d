/* HIP's name for CUDA's. */
#include "hip_runtime.h"
#include "../half.h"
#define hip_bfloat16 __nv_bfloat16
