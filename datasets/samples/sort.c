/* Insertion sort and quicksort, for looking at loops, calls and recursion. */
void insertion_sort(int *a, int n) {
  for (int i = 1; i < n; i++) {
    int x = a[i], j = i;
    for (; j > 0 && a[j - 1] > x; j--) a[j] = a[j - 1];
    a[j] = x;
  }
}

void quicksort(int *a, int n) {
  if (n < 16) {
    insertion_sort(a, n);
    return;
  }
  int pivot = a[n / 2], i = 0, j = n - 1;
  while (i <= j) {
    while (a[i] < pivot) i++;
    while (a[j] > pivot) j--;
    if (i <= j) {
      int t = a[i];
      a[i++] = a[j];
      a[j--] = t;
    }
  }
  quicksort(a, j + 1);
  quicksort(a + i, n - i);
}
