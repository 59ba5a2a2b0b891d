__kernel void picture(read_only image2d_t in, __global float *b) {
  b[get_global_id(0)] = get_image_width(in);
}
