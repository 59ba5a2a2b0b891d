// One use of each part of OpenCL C that a compiler's own headers would provide.
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

float4 shade(float4 colour, float weight) {
  return clamp(mix(colour, (float4)(0.5f), weight), 0.0f, 1.0f) * native_exp(weight) + M_PI_F;
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void everything(
    __global float4 *out, __global const uchar4 *bytes, __global int *counts, __local float *scratch,
    __global double *doubles, __global half *halves, __read_only image2d_t image, const uint width) {
  const size_t i = get_global_id(0);
  const int2 at = (int2)((int)(i % width), (int)(i / width));
  float4 colour = read_imagef(image, nearest, at) + convert_float4(bytes[i]);
  scratch[get_local_id(0)] = dot(colour, colour);
  barrier(CLK_LOCAL_MEM_FENCE);
  colour = shade(colour, scratch[0]) + vload4(i, (__global const float *)out) + shuffle(colour, (uint4)(3, 2, 1, 0));
  doubles[i] = sqrt(doubles[i]) + M_PI + (double)FLT_MAX;
  vstore_half(colour.x, i, halves);
  counts[i] = as_int(colour.x) + convert_int_sat_rte(colour.y) + mad24(counts[i], 3, INT_MAX) + atomic_inc(counts);
  if (counts != NULL && isnan(colour.x)) printf("%d %f\n", counts[i], colour.y);
  event_t copied = async_work_group_copy(scratch, (__global float *)out, 16, 0);
  wait_group_events(1, &copied);
  out[i] = colour.wzyx;
}
