#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>

int main() {
  std::map<std::string, int> counts;
  std::string word;
  while (std::cin >> word) ++counts[word];
  std::vector<int> sorted;
  for (const auto &entry : counts) sorted.push_back(entry.second);
  std::sort(sorted.begin(), sorted.end());
  for (int count : sorted) std::cout << count << std::endl;
}
