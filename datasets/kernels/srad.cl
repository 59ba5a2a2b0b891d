// A step of speckle reducing anisotropic diffusion: the diffusion coefficient of every pixel of an image.
__kernel void srad(__global const float *image, __global float *coefficient, const int rows, const int columns,
                   const float q0) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= columns || y >= rows) return;
  int i = y * columns + x;
  float centre = image[i];
  float north = image[y > 0 ? i - columns : i] - centre, south = image[y < rows - 1 ? i + columns : i] - centre;
  float west = image[x > 0 ? i - 1 : i] - centre, east = image[x < columns - 1 ? i + 1 : i] - centre;
  float gradient = (north * north + south * south + west * west + east * east) / (centre * centre);
  float laplacian = (north + south + west + east) / centre;
  float divisor = 1.0f + 0.25f * laplacian;
  float q = (0.5f * gradient - 0.0625f * laplacian * laplacian) / (divisor * divisor);
  float c = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
  coefficient[i] = clamp(c, 0.0f, 1.0f);
}
