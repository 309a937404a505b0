// Uses the colours of Okabe and Ito, which people with any colour vision can tell apart: added nodes blue and
// bold, removed ones orange and dashed, changed ones green with a double line.
#include "app/cli/graph_text.h"

#include "app/cli/output.h"
#include "replay/read/print.h"

#include <fmt/format.h>

#include <map>

namespace uopscope::cli {

namespace {

std::string_view fillOf(Op op) {
  if (op == Op::LOAD || op == Op::STORE || op == Op::INDEX) return "#fde8c9";
  if (op == Op::RANGE || op == Op::END || op == Op::SPECIAL || op == Op::IF || op == Op::ENDIF)
    return "#d7ecf8";
  if (op == Op::REDUCE || op == Op::REDUCE_AXIS || op == Op::WMMA) return "#f3d6e4";
  if (group::kDefines.has(op) || op == Op::BUFFER || op == Op::DEFINE_VAR) return "#e3e3e3";
  if (group::kMovement.has(op)) return "#e9f5d8";
  if (group::kElementwise.has(op)) return "#fbf6c4";
  return "#ffffff";
}

bool isInlined(const NodeFields& n) {
  return n.op == Op::CONST && n.src.empty();
}

} // namespace

DotGraph dotGraph(Cursor& cursor, int64_t step, const GraphDiff* difference) {
  std::vector<NodeId> nodes = cursor.graphAt(step);
  std::map<NodeId, DotAttributes> style;
  if (difference) {
    for (NodeId id : difference->added) style[id] = {{"color", "#0072B2"}, {"penwidth", "3"}};
    for (const auto& c : difference->changed) style[c.after] = {{"color", "#009E73"}, {"peripheries", "2"}};
    for (NodeId id : difference->removed) {
      style[id] = {{"color", "#D55E00"}, {"penwidth", "2"}, {"style", "filled,dashed"}};
      nodes.push_back(id);
    }
  }
  DotGraph out;
  out.name = fmt::format("{} step {}", cursor.info().name, step);
  out.attributes = {{"rankdir", "LR"}};
  out.nodeDefaults = {
      {"shape", "box"}, {"style", "filled"}, {"fontname", "DejaVu Sans Mono"}, {"fontsize", "10"}};
  out.edgeDefaults = {{"arrowsize", "0.6"}, {"fontsize", "8"}};
  std::map<NodeId, uint32_t> place;
  for (NodeId id : nodes) {
    NodeFields n = cursor.fields(id);
    if (isInlined(n) && !style.contains(id) && id != nodes.back()) continue;
    if (!place.try_emplace(id, static_cast<uint32_t>(out.nodes.size())).second) continue;
    std::string label = fmt::format("{} {}", opName(n.op), nodeName(id));
    if (n.arg) {
      std::string arg = n.arg.repr();
      if (arg.size() > 60) arg.replace(57, std::string::npos, "...");
      label += '\n' + arg;
    }
    label += "\n" + n.dtype.name().substr(n.dtype.name().find('.') + 1);
    for (size_t k = 0; k < n.src.size(); ++k)
      if (NodeFields s = cursor.fields(n.src[k]); isInlined(s) && !style.contains(n.src[k]))
        label += fmt::format("\nsrc{} = {}", k, s.arg.repr());
    DotNode& node = out.nodes.emplace_back(DotNode{fmt::format("n{}", id), label});
    node.attributes = {{"fillcolor", std::string(fillOf(n.op))}};
    if (const auto own = style.find(id); own != style.end())
      node.attributes.insert(node.attributes.end(), own->second.begin(), own->second.end());
  }
  for (const auto& [id, to] : place) {
    const NodeFields n = cursor.fields(id);
    for (size_t k = 0; k < n.src.size(); ++k) {
      const auto from = place.find(n.src[k]);
      if (from == place.end() || (isInlined(cursor.fields(n.src[k])) && !style.contains(n.src[k]))) continue;
      DotEdge& e = out.edges.emplace_back(DotEdge{from->second, to});
      if (n.src.size() > 1) e.attributes = {{"headlabel", std::to_string(k)}};
    }
  }
  return out;
}

} // namespace uopscope::cli
