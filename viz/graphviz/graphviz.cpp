// Our side of uopscope-graphviz: finds it, asks it, reads its answer.
#include "viz/graphviz/graphviz.h"

#include "engine/base/child_process.h"
#include "engine/base/error.h"
#include "viz/graphviz/wire.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <optional>

namespace uopscope {
namespace {

using graphviz::WireReader;

/// Of an answer: pictures of large graphs take tens of megabytes.
constexpr size_t kMostAnswer = size_t{1} << 30;
constexpr size_t kMostInput = size_t{64} << 20;
constexpr float kPointsPerInch = 72; // a pixel of ours is a point of Graphviz
/// From this many boxes on, `dot` is told to be content sooner: 2,000 boxes then take half the time.
constexpr size_t kLarge = 500;

/// The answer; nothing where it was stopped.
std::optional<std::string> ask(std::vector<std::string> task, const std::string& input,
                               const GraphvizLimits& limits) {
  task.insert(task.begin(), companionProgram("uopscope-graphviz"));
  task.insert(task.begin() + 2, std::to_string(limits.seconds));
  FinishedChild run = runProgram(task, input, {limits.seconds, kMostAnswer, limits.stop});
  switch (run.end) {
  case FinishedChild::End::Stopped: return std::nullopt;
  case FinishedChild::End::TooLong:
    throw Error(ErrorKind::Runtime, fmt::format("Graphviz did not finish within {} s", limits.seconds));
  case FinishedChild::End::TooMuch: throw Error(ErrorKind::Runtime, "Graphviz answers with more than 1 GB");
  case FinishedChild::End::Itself: break;
  }
  if (run.succeeded()) return std::move(run.out);
  if (WIFEXITED(run.status) && WEXITSTATUS(run.status) == graphviz::kBadInput)
    throw Error(ErrorKind::Value, run.err);
  if (WIFSIGNALED(run.status))
    throw Error(ErrorKind::Runtime,
                fmt::format("Graphviz gave up on this graph (signal {}): it takes more than 1 GB "
                            "of memory, or meets a fault of Graphviz",
                            WTERMSIG(run.status)));
  throw Error(ErrorKind::Runtime, run.err.empty() ? "Graphviz failed on this graph" : run.err);
}

} // namespace

DotGraph readDot(const std::string& text, const GraphvizLimits& limits) {
  if (text.size() > kMostInput)
    throw Error(ErrorKind::Value, fmt::format("{} MB of text: graphs of up to {} MB are read",
                                              text.size() >> 20, kMostInput >> 20));
  const auto answer = ask({"read"}, text, limits);
  DotGraph out;
  if (!answer) return out;
  WireReader in(*answer);
  out.name = in.text();
  out.nodes.resize(in.count(2 * sizeof(uint32_t)));
  for (DotNode& n : out.nodes) n.name = in.text(), n.label = in.text();
  out.edges.resize(in.count(3 * sizeof(uint32_t)));
  for (DotEdge& e : out.edges) {
    e.from = in.number(), e.to = in.number();
    if (std::string label = in.text(); !label.empty()) e.attributes = {{"headlabel", std::move(label)}};
    if (e.from >= out.nodes.size() || e.to >= out.nodes.size())
      throw Error(ErrorKind::Runtime, "uopscope-graphviz answers with an edge to no node");
  }
  return out;
}

std::string drawDot(const DotGraph& graph, const std::string& format, const GraphvizLimits& limits) {
  return ask({"draw", format}, writeDot(graph), limits).value_or("");
}

DotPlaces placeDot(std::span<const DotBox> boxes, std::span<const std::pair<uint32_t, uint32_t>> edges,
                   bool leftToRight, const GraphvizLimits& limits) {
  DotGraph g;
  g.attributes = {{"rankdir", leftToRight ? "LR" : "TB"}, {"nodesep", "0.3"}, {"ranksep", "0.6"}};
  if (boxes.size() > kLarge)
    for (const char* effort : {"nslimit", "nslimit1", "mclimit"}) g.attributes.emplace_back(effort, "1");
  g.nodeDefaults = {{"shape", "box"}, {"fixedsize", "true"}, {"label", ""}};
  g.edgeDefaults = {{"headport", leftToRight ? "w" : "n"},
                    {"tailport", leftToRight ? "e" : "s"},
                    {"place", ""},
                    {"arrowhead", "none"}};
  for (size_t i = 0; i < boxes.size(); ++i)
    g.nodes.push_back({std::to_string(i),
                       "",
                       {{"width", fmt::format("{:.4f}", boxes[i].width / kPointsPerInch)},
                        {"height", fmt::format("{:.4f}", boxes[i].height / kPointsPerInch)}}});
  for (size_t i = 0; i < edges.size(); ++i) {
    const auto [from, to] = edges[i];
    if (from >= boxes.size() || to >= boxes.size())
      throw Error(ErrorKind::Value,
                  fmt::format("edge {} joins {} and {} of {} boxes", i, from, to, boxes.size()));
    g.edges.push_back({from, to, {{"place", std::to_string(i)}}});
  }
  DotPlaces out;
  const auto answer = ask({"place"}, writeDot(g), limits);
  if (!answer) {
    out.stopped = true;
    return out;
  }
  WireReader in(*answer);
  out.width = in.real(), out.height = in.real();
  out.centres.resize(boxes.size());
  out.curves.resize(edges.size());
  for (uint32_t n = in.count(3 * sizeof(uint32_t)); n > 0; --n) {
    const uint32_t box = in.number();
    const float x = in.real(), y = in.real();
    if (box < out.centres.size()) out.centres[box] = {x, y};
  }
  for (uint32_t n = in.count(2 * sizeof(uint32_t)); n > 0; --n) {
    const uint32_t edge = in.number();
    std::vector<DotPoint> curve(in.count(2 * sizeof(float)));
    for (DotPoint& p : curve) p.first = in.real(), p.second = in.real();
    if (edge < out.curves.size()) out.curves[edge] = std::move(curve);
  }
  return out;
}

} // namespace uopscope
