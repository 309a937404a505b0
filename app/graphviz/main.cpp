// The program uopscope-graphviz: Graphviz' libraries in a process of their own (viz/graphviz/graphviz.h). One
// question from stdin, one answer to stdout (viz/graphviz/wire.h), then the end. The system holds it to the limits,
// so that no file, however made, takes more.
//
//   echo 'digraph { a -> b }' | uopscope-graphviz draw 10 svg
#include "engine/base/child_process.h"
#include "viz/graphviz/graphviz.h"
#include "viz/graphviz/library.h"
#include "viz/graphviz/wire.h"

#include <fmt/format.h>
#include <gvc.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>

namespace uopscope {
namespace {

using graphviz::put;
using graphviz::text;

/// Memory of the process, and sizes of a graph of others that one can still look at.
constexpr uint64_t kMemory = uint64_t{1} << 30;
constexpr size_t kMostNodes = 200'000, kMostEdges = 1'000'000;
constexpr int kFine = 0, kFailed = 1, kWrongUse = 2;

void limitMyself(rlim_t seconds) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  limitMemory(kMemory);
  const rlimit time{seconds + 1, seconds + 2}, none{0, 0};
  setrlimit(RLIMIT_CPU, &time);
  setrlimit(RLIMIT_CORE, &none);
}

std::string readAnswer(const std::string& input) {
  const DotGraph g = parseDot(input);
  if (g.nodes.size() > kMostNodes || g.edges.size() > kMostEdges)
    throw Error(ErrorKind::Value, fmt::format("{} nodes and {} edges: up to {} and {} can be read",
                                              g.nodes.size(), g.edges.size(), kMostNodes, kMostEdges));
  std::string out;
  put(out, g.name);
  put(out, static_cast<uint32_t>(g.nodes.size()));
  for (const DotNode& n : g.nodes) put(out, n.name), put(out, n.label);
  put(out, static_cast<uint32_t>(g.edges.size()));
  for (const DotEdge& e : g.edges) {
    put(out, e.from), put(out, e.to);
    put(out, e.attributes.empty() ? std::string_view() : std::string_view(e.attributes[0].second));
  }
  return out;
}

/// A graph with a layout by `dot`. The members go in the order that gvc wants.
class LaidOut {
public:
  explicit LaidOut(const std::string& input) : context_(gvContext()) {
    graph_ = graphviz::parse(input);
    if (gvLayout(context_, graph_.get(), text("dot")) != 0)
      throw Error(ErrorKind::Runtime, "Graphviz could not lay out the graph");
  }
  ~LaidOut() {
    gvFreeLayout(context_, graph_.get());
    graph_.reset();
    gvFreeContext(context_);
  }
  LaidOut(const LaidOut&) = delete;
  LaidOut& operator=(const LaidOut&) = delete;
  Agraph_t* graph() const { return graph_.get(); }
  GVC_t* context() const { return context_; }

private:
  GVC_t* context_;
  graphviz::Graph graph_;
};

std::string drawAnswer(const std::string& input, const std::string& format) {
  const LaidOut done(input);
  char* bytes = nullptr;
  unsigned size = 0;
  if (gvRenderData(done.context(), done.graph(), text(format), &bytes, &size) != 0 || !bytes)
    throw Error(ErrorKind::Runtime, fmt::format("Graphviz cannot draw .{}: is libgvc6 complete?", format));
  std::string out(bytes, size);
  gvFreeRenderData(bytes);
  return out;
}

/// The input is of placeDot(): nodes are named by their index, edges have it in the attribute "place".
std::string placeAnswer(const std::string& input) {
  const LaidOut done(input);
  Agraph_t* g = done.graph();
  const boxf whole = GD_bb(g);
  std::string out;
  auto point = [&](pointf p) {
    put(out, static_cast<float>(p.x - whole.LL.x));
    put(out, static_cast<float>(whole.UR.y - p.y)); // its y points up
  };
  put(out, static_cast<float>(whole.UR.x - whole.LL.x));
  put(out, static_cast<float>(whole.UR.y - whole.LL.y));
  put(out, static_cast<uint32_t>(agnnodes(g)));
  for (Agnode_t* n = agfstnode(g); n; n = agnxtnode(g, n)) {
    put(out, static_cast<uint32_t>(std::strtoul(agnameof(n), nullptr, 10)));
    point(ND_coord(n));
  }
  put(out, static_cast<uint32_t>(agnedges(g)));
  for (Agnode_t* n = agfstnode(g); n; n = agnxtnode(g, n))
    for (Agedge_t* e = agfstout(g, n); e; e = agnxtout(g, e)) {
      put(out, static_cast<uint32_t>(std::strtoul(agget(e, text("place")), nullptr, 10)));
      const splines* curve = ED_spl(e);
      const bool drawn = curve && curve->size > 0;
      put(out, static_cast<uint32_t>(drawn ? curve->list[0].size : 0));
      for (int i = 0; drawn && i < curve->list[0].size; ++i) point(curve->list[0].list[i]);
    }
  return out;
}

int answer(int argc, char** argv) {
  const std::string task = argc > 1 ? argv[1] : "";
  const bool known =
      (task == "read" && argc == 3) || (task == "place" && argc == 3) || (task == "draw" && argc == 4);
  if (!known) {
    fmt::print(stderr,
               "uopscope-graphviz read|place SECONDS, or draw SECONDS FORMAT: DOT from stdin; uopscope "
               "starts it for imports, exports and layouts\n");
    return kWrongUse;
  }
  limitMyself(static_cast<rlim_t>(std::strtoul(argv[2], nullptr, 10)));
  try {
    const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
    const std::string out = task == "read"    ? readAnswer(input)
                            : task == "place" ? placeAnswer(input)
                                              : drawAnswer(input, argv[3]);
    return std::fwrite(out.data(), 1, out.size(), stdout) == out.size() && std::fflush(stdout) == 0 ? kFine
                                                                                                    : kFailed;
  } catch (const Error& e) {
    fmt::print(stderr, "{}", e.what());
    return e.kind() == ErrorKind::Value ? graphviz::kBadInput : kFailed;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "the graph takes more than {} MB of memory", kMemory >> 20);
    return graphviz::kBadInput;
  }
}

} // namespace
} // namespace uopscope

int main(int argc, char** argv) {
  return uopscope::answer(argc, argv);
}
