// Sorting and searching.

__kernel void bitonic_step(int span, int run, __global uint* keys) {
  int i = get_global_id(0), other = i ^ span;
  if (other <= i) return;
  uint left = keys[i], right = keys[other];
  if ((left > right) == ((i & run) == 0)) {
    keys[i] = right;
    keys[other] = left;
  }
}

__kernel void odd_even_phase(int phase, __global int* items) {
  int i = 2 * get_global_id(0) + phase;
  if (i + 1 >= 2 * get_global_size(0)) return;
  int left = items[i], right = items[i + 1];
  items[i] = min(left, right);
  items[i + 1] = max(left, right);
}

__kernel void rank_sort(int cards, __global const int* unsorted, __global int* sorted) {
  int i = get_global_id(0), own = unsorted[i], rank = 0;
  for (int j = 0; j < cards; j++) rank += unsorted[j] < own || (unsorted[j] == own && j < i);
  sorted[rank] = own;
}

// ncc: haystack: values 3 * i
// ncc: needle: below 196608
__kernel void binary_search(int hay, __global const int* haystack, __global const int* needle, __global int* found) {
  int i = get_global_id(0), low = 0, high = hay;
  while (low < high) {
    int middle = (low + high) / 2;
    if (haystack[middle] < needle[i]) low = middle + 1;
    else high = middle;
  }
  found[i] = low;
}
