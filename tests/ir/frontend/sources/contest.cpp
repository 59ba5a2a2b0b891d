#include <bits/stdc++.h>
using namespace std;

int main() {
  int n;
  scanf("%d", &n);
  priority_queue<pair<int, int>> queue;
  unordered_map<int, string> names;
  for (int i = 0; i < n; ++i) queue.push({i * i % 7, i});
  cout << queue.top().second << names.size() << setprecision(3) << hypot(1.0, 2.0) << endl;
}
