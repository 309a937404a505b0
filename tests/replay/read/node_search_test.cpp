// Finds nodes by their text and their place; and the map that walks of graphs use.
#include "replay/read/node_map.h"
#include "replay/read/node_search.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <unordered_map>

using namespace uopscope;
using namespace uopscope::test;

TEST_CASE("the place of a node is a graph that holds it") {
  TempTrace file;
  recordTo(file.path, [] {
    Pool pool;
    PoolScope scope(pool);
    UOp root = randomGraph(7, 80);
    ObservedScope kernel({ScopeKind::Kernel, "r_4", {"model.py", 3}, root});
    graphRewrite(graphRewrite(root, shrinking(), {.name = "up"}), nesting(), {.name = "nest"});
  });
  Trace trace(file.path);
  int found = 0;
  const NodeId count = trace.nodes().count();
  for (NodeId node = 1; node <= count; ++node) {
    const auto at = placeOf(trace, node);
    if (!at) continue;
    ++found;
    Cursor cursor(trace, at->pass);
    const auto& graph = cursor.graphAt(at->step);
    CHECK(std::ranges::find(graph, node) != graph.end());
    CHECK(trace.pass(at->pass).scope == at->scope);
  }
  // The pass rewrote some nodes again before any graph contained them.
  CHECK(found * 10 > static_cast<int>(count) * 6);
  CHECK_FALSE(placeOf(trace, kFirstViewNode - 1));
}

TEST_CASE("a map of nodes says what std::unordered_map says") {
  NodeMap<int> map;
  std::unordered_map<NodeId, int> plain;
  CHECK(map.find(3) == nullptr);
  std::mt19937 random(2);
  for (int k = 0; k < 5000; ++k) {
    const NodeId id = 1 + static_cast<NodeId>(random() % 3000) + (k % 2 ? kFirstViewNode : 0);
    if (k % 3)
      map[id] = k, plain[id] = k;
    else
      CHECK(map.tryEmplace(id, k) == plain.try_emplace(id, k).second);
  }
  CHECK(map.size() == plain.size());
  size_t seen = 0;
  map.forEach([&](NodeId id, int value) {
    ++seen;
    CHECK(plain.at(id) == value);
  });
  CHECK(seen == plain.size());
  map.clear();
  CHECK_FALSE(map.contains(5));
}
