/* Structures that contain themselves, recursion, loops (phi) and a switch. */
struct node {
  int key;
  struct node *left, *right;
  struct { double weight; char tag[4]; } payload;
};

static int depth(const struct node *n) {
  if (!n) return 0;
  int l = depth(n->left), r = depth(n->right);
  return 1 + (l > r ? l : r);
}

double total(const struct node *n) {
  double sum = 0.0;
  for (; n; n = n->right) sum += n->payload.weight + total(n->left);
  return sum;
}

int score(const struct node *n, int mode) {
  int s;
  switch (mode) {
    case 0: s = n->key; break;
    case 1: s = depth(n) * 3; break;
    case 7: s = (int)total(n); break;
    default: s = -1;
  }
  return s;
}

unsigned collatz(unsigned x) {
  unsigned steps = 0;
  while (x != 1) {
    x = x % 2 ? 3 * x + 1 : x / 2;
    steps++;
  }
  return steps;
}

int (*table[2])(const struct node *, int) = {score, 0};

int through_pointer(const struct node *n, int which) { return table[which](n, which); }
