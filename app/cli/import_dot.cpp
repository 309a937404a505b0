// A graph in DOT becomes one pass without steps: a node is a CUSTOM with its label, an edge a -> b makes a a source
// of b. A graph of the compiler has no circles, so an edge that closes one goes into the label of its end.
#include "app/cli/import_rows.h"
#include "engine/base/error.h"
#include "engine/rewrite/driver.h"
#include "replay/record/recorder.h"
#include "viz/graphviz/graphviz.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace uopscope::cli {

namespace {

/// Each node before its users. An edge that leads back to the path on which it was met closes a circle: it is taken out,
/// and the label of its end names its beginning.
struct Order {
  static long headNumber(const DotEdge& e) {
    return e.attributes.empty() ? 0 : std::strtol(e.attributes[0].second.c_str(), nullptr, 10);
  }
  std::vector<uint32_t> nodes;
  std::vector<std::vector<uint32_t>>
      sources;        ///< by node, in the order of the numbers at their heads, else of the file
  size_t closing = 0; ///< edges that close a circle

  explicit Order(DotGraph& g) : sources(g.nodes.size()) {
    // `export` writes the position of a source at the head of its edge, and cgraph writes edges in an order of its own.
    std::ranges::stable_sort(g.edges, {}, headNumber);
    std::vector<std::vector<uint32_t>> leaving(g.nodes.size());
    for (uint32_t e = 0; e < g.edges.size(); ++e) leaving[g.edges[e].from].push_back(e);
    std::vector<bool> closes(g.edges.size());
    enum : uint8_t { New, OnTheWay, Done };
    std::vector<uint8_t> state(g.nodes.size(), New);
    struct Place {
      uint32_t node;
      size_t next; ///< of the edges that leave it
    };
    std::vector<Place> path;
    for (uint32_t start = 0; start < g.nodes.size(); ++start) {
      if (state[start] != New) continue;
      path.push_back({start, 0});
      state[start] = OnTheWay;
      while (!path.empty()) {
        auto& [node, next] = path.back();
        if (next == leaving[node].size()) {
          state[node] = Done;
          nodes.push_back(node);
          path.pop_back();
          continue;
        }
        const uint32_t e = leaving[node][next++], to = g.edges[e].to;
        if (state[to] == OnTheWay) {
          closes[e] = true;
          ++closing;
          g.nodes[to].label += fmt::format(" (from {})", g.nodes[node].name);
        } else if (state[to] == New) {
          state[to] = OnTheWay;
          path.push_back({to, 0});
        }
      }
    }
    std::ranges::reverse(nodes); // a node is done after its users
    for (uint32_t e = 0; e < g.edges.size(); ++e)
      if (!closes[e]) sources[g.edges[e].to].push_back(g.edges[e].from);
  }
};

/// Makes nodes in the current pool. The root has all nodes without users as its sources.
UOp build(const DotGraph& g, const Order& order) {
  std::vector<UOp> made(g.nodes.size());
  std::vector<bool> used(g.nodes.size());
  for (const uint32_t node : order.nodes) {
    std::vector<UOp> own;
    for (const uint32_t s : order.sources[node]) {
      own.push_back(made[s]);
      used[s] = true;
    }
    std::string label = g.nodes[node].label;
    std::ranges::replace(label, '\n', ' ');
    made[node] = UOp::make(Op::CUSTOM, dtypes::void_, own, Arg::of(label), Arg::of(g.nodes[node].name));
  }
  std::vector<UOp> roots;
  for (size_t k = 0; k < made.size(); ++k)
    if (!used[k]) roots.push_back(made[k]);
  return UOp::sink(roots);
}

} // namespace

std::string importDot(const std::string& text, const std::string& file, const std::string& path) {
  DotGraph graph = readDot(text);
  if (graph.nodes.empty()) throw Error(ErrorKind::Value, "there is no node in it");
  const Order order(graph);
  Pool pool;
  PoolScope scope(pool);
  const UOp root = build(graph, order);
  RecorderOptions options;
  options.path = path;
  options.meta = {{"script", file}, {"foreign", "a graph imported from DOT"}};
  Recorder recorder(std::move(options));
  {
    ObserverScope observed(&recorder);
    ObservedScope kernel({ScopeKind::Kernel, std::filesystem::path(file).stem().string(), {}, root});
    graphRewrite(root, PatternMatcher(), {.name = "imported graph"});
    recorder.poolRetired(pool);
  }
  recorder.finish();
  const std::string nodes = fmt::format("{} nodes", graph.nodes.size());
  return order.closing == 0
             ? nodes
             : fmt::format("{}; edges that close a circle, in labels only: {}", nodes, order.closing);
}

} // namespace uopscope::cli
