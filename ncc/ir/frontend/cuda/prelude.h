/* The part of CUDA C++ that programs take for granted, for a machine without a CUDA toolkit.
 * Written from the CUDA C++ Programming Guide: enough to compile device code to IR, nothing to link. */
#ifndef NCC_CUDA_PRELUDE_H
#define NCC_CUDA_PRELUDE_H

/* Older C++ that nvcc takes, as that of bundled copies of CUB. */
#if defined(__has_warning) && __has_warning("-Wmissing-template-arg-list-after-template-kw")
#pragma clang diagnostic ignored "-Wmissing-template-arg-list-after-template-kw"
#endif

#include "attributes.h"
#include "vectors.h"
#include "indices.h"
#include "synchronization.h"
#include "mathematics.h"
#include "simd.h"
#include "textures.h"
#include "host.h"

/* Objects that are made in memory that is there: <new>, for the device, which some clangs have themselves. */
#if __has_include(<cuda_wrappers/new>)
#include <new>
#else
inline __attribute__((device)) void *operator new(__SIZE_TYPE__, void *place) noexcept { return place; }
inline __attribute__((device)) void *operator new[](__SIZE_TYPE__, void *place) noexcept { return place; }
inline __attribute__((device)) void operator delete(void *, void *) noexcept {}
inline __attribute__((device)) void operator delete[](void *, void *) noexcept {}
#endif

/* nvcc gives every file these without being asked, and programs rely on it. After the declarations for the
 * device, so that the C++ library takes both into namespace std. */
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#endif
