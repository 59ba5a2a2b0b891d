// Signals: transforms, filters, checksums.

__kernel void fft_stage(int half_size, __global float* real, __global float* imaginary) {
  int i = get_global_id(0), within = i & (half_size - 1), top = 2 * i - within, low = top + half_size;
  float angle = -3.14159265f * within / half_size, c = cos(angle), s = sin(angle);
  float re = real[low] * c - imaginary[low] * s, im = real[low] * s + imaginary[low] * c;
  real[low] = real[top] - re;
  imaginary[low] = imaginary[top] - im;
  real[top] += re;
  imaginary[top] += im;
}

__kernel void dft_naive(int tones, __global const float* wave, __global float2* spectrum) {
  int tone = get_global_id(0);
  float2 sum = (float2)(0);
  for (int i = 0; i < tones; i++) {
    float angle = -6.2831853f * tone * i / tones;
    sum += wave[i] * (float2)(cos(angle), sin(angle));
  }
  spectrum[tone] = sum;
}

__kernel void fir_64(__global const float* sound, __constant float* taps, __global float* echo) {
  int i = get_global_id(0);
  float sum = 0;
  for (int tap = 0; tap < 64; tap++) sum += sound[i + tap] * taps[tap];
  echo[i] = sum;
}

__kernel void dct_rows(int picture, __global const float* pixels, __global float* cosines) {
  int x = get_global_id(0), y = get_global_id(1), start = y * picture + x / 8 * 8;
  float sum = 0;
  for (int i = 0; i < 8; i++) sum += pixels[start + i] * cos(0.19634954f * (2 * i + 1) * (x & 7) / 2);
  cosines[y * picture + x] = sum;
}

__kernel void haar_level(__global const float* fine_signal, __global float* coarse, __global float* detail) {
  int i = get_global_id(0);
  float a = fine_signal[2 * i], b = fine_signal[2 * i + 1];
  coarse[i] = 0.70710678f * (a + b);
  detail[i] = 0.70710678f * (a - b);
}

__kernel void crc_blocks(__global const uint* message, __global uint* checksum) {
  int block = get_global_id(0);
  uint crc = 0xffffffffu;
  for (int word = 0; word < 64; word++) {
    crc ^= message[block * 64 + word];
    for (int bit = 0; bit < 32; bit++) crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
  }
  checksum[block] = ~crc;
}
