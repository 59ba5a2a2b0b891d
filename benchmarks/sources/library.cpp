// Modules of growing size from the C++ library, where Eigen is not installed; SIZE as in eigen.cpp.
#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#if SIZE == 1
void grow(std::vector<int>& numbers) { numbers.insert(numbers.begin(), numbers.back()); }
#else
template <int N> struct Key {
  long value;
  bool operator<(const Key& other) const { return value < other.value; }
  bool operator==(const Key& other) const { return value == other.value; }
};
template <int N> long work(long seed) {
  std::vector<Key<N>> keys(100, Key<N>{seed});
  std::stable_sort(keys.begin(), keys.end());
  std::nth_element(keys.begin(), keys.begin() + 5, keys.end());
  std::map<Key<N>, std::vector<Key<N>>> tree;
  for (const Key<N>& key : keys) tree[key].push_back(key);
  std::deque<Key<N>> queue(keys.begin(), keys.end());
  queue.insert(queue.begin() + 3, Key<N>{seed});
  auto hash = [](const Key<N>& key) { return std::size_t(key.value); };
  std::unordered_map<Key<N>, long, decltype(hash)> table(8, hash);
  return table[queue.front()] + long(tree.size());
}
template <int N> long all(long seed) {
  if constexpr (N > 0) seed += all<N - 1>(seed);
  return work<N>(seed);
}
#if SIZE == 2
template long all<6>(long);
#elif SIZE == 3
template long all<9>(long);
#else
template long all<89>(long);
#endif
#endif
