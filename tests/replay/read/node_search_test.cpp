// Finds nodes by their text and their place; and the map that walks of graphs use.
#include "replay/read/node_map.h"
#include "replay/read/node_search.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <unordered_map>

using namespace uopscope;
using namespace uopscope::test;

namespace {
/// A kernel of two passes in a trace, with a text for each of `lines`.
void recordTwoPasses(const std::string& path, const std::vector<std::string>& lines = {}) {
  recordTo(path, [&] {
    Pool pool;
    PoolScope scope(pool);
    UOp root = randomGraph(7, 80);
    ObservedScope kernel({ScopeKind::Kernel, "r_4", {"model.py", 3}, root});
    graphRewrite(graphRewrite(root, shrinking(), {.name = "up"}), nesting(), {.name = "nest"});
    for (const std::string& line : lines)
      Observer::current()->onArtifact(
          {.kind = "source", .text = "void r_4() {\n  a[1] = 2; // " + line + "\n}\n"});
  });
}
} // namespace

TEST_CASE("the place of a node is a graph that holds it") {
  TempTrace file;
  recordTwoPasses(file.path);
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

TEST_CASE("a reading that was stopped anywhere is done again, and nothing is called damaged") {
  TempTrace file;
  recordTwoPasses(file.path, {"one", "two"});
  const auto all = [](Trace& trace) {
    std::string out;
    for (const ScopeInfo& scope : trace.scopes())
      for (const PassInfo& pass : trace.passes(scope.id))
        for (const StepInfo& step : trace.steps(pass.id))
          out += std::to_string(step.before) + trace.rule(step.rule).name + ' ';
    for (const ScopeInfo& scope : trace.scopes())
      for (const ArtifactInfo& text : trace.artifacts(scope.id)) out += trace.artifactText(text.id);
    for (NodeId node = 1; node <= trace.nodes().count(); ++node) {
      const NodeFields n = trace.nodes().fields(node);
      out += std::to_string(int(n.op)) + ' ' + std::to_string(n.src.size()) + ' ';
    }
    return out;
  };
  Trace whole(file.path);
  const std::string expected = all(whole);
  struct Left {
    int looks;
  };
  int stopped = 0;
  for (int looks = 1; looks < 4000; looks += looks < 60 ? 1 : looks / 7) {
    Trace trace(file.path);
    Left left{looks};
    // SQLite asks after each step of its machine; the reading ends after `looks` of them.
    sqlite3_progress_handler(
        trace.database().handle(), 1, [](void* l) { return --static_cast<Left*>(l)->looks < 0 ? 1 : 0; },
        &left);
    try {
      all(trace);
    } catch (const Error&) {
      ++stopped;
    }
    sqlite3_progress_handler(trace.database().handle(), 0, nullptr, nullptr);
    std::string again;
    CHECK_NOTHROW(again = all(trace));
    CHECK(again == expected);
  }
  CHECK(stopped > 60);
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
