#include "viz/pictures/rule_picture.h"

#include "replay/read/uop_reader.h"
#include "replay/schema/letters.h"
#include "viz/pictures/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <deque>
#include <map>
#include <set>

namespace uopscope {

using nlohmann::json;

namespace {

constexpr size_t kMostDrawn = 40, kMostWhole = 600, kMostText = 60;

/// Nodes near the given ones, which come first.
std::vector<UOp> near(const std::vector<UOp>& roots, int depth, size_t most) {
  std::vector<UOp> found;
  UOpMap<bool> met;
  std::deque<std::pair<UOp, int>> queue;
  auto add = [&](UOp u, int d) {
    if (found.size() == most || !met.emplace(u, true).second) return;
    found.push_back(u);
    queue.emplace_back(u, d);
  };
  for (const UOp root : roots) add(root, 0);
  for (; !queue.empty(); queue.pop_front()) {
    const auto [u, d] = queue.front();
    if (d != depth)
      for (const UOp s : u.src()) add(s, d + 1);
  }
  return found;
}

UOpMap<bool> setOf(UOp root) {
  UOpMap<bool> all;
  for (const UOp u : root.toposort()) all[u] = true;
  return all;
}

json nodeJson(const PictureNode& n, Mark mark) {
  json folded = json::array();
  for (const FoldedSource& f : n.folded)
    folded.push_back({{"port", f.port}, {"count", f.count}, {"text", f.text}});
  return {{"op", n.op},
          {"detail", n.detail},
          {"dtype", n.dtype},
          {"family", static_cast<int>(n.family)},
          {"mark", static_cast<int>(mark)},
          {"folded", folded}};
}

} // namespace

namespace {

/// Nodes with marks: first those of the graph now, then those that are gone.
using Marked = std::vector<std::pair<UOp, Mark>>;

/// `before` and `after` are boxes, even where they are such as a constant, which others have folded in.
json pictureJson(Marked shown, UOp before, UOp after) {
  UOpReader nodes;
  const NodeReader read = nodes.reader();
  std::erase_if(shown, [&](const auto& s) {
    return s.first != before && s.first != after && foldsAlways(read, nodes.fields(nodes.idOf(s.first)));
  });
  std::map<NodeId, size_t> at;
  json out{{"nodes", json::array()}, {"edges", json::array()}};
  for (const auto& [u, mark] : shown) at.emplace(nodes.idOf(u), at.size());
  for (const auto& [u, mark] : shown) {
    const NodeFields n = nodes.fields(nodes.idOf(u));
    PictureNode box = labelOf(read, n);
    const auto ports = static_cast<uint32_t>(n.src.size());
    for (uint32_t port = 0; port < ports; ++port) {
      const auto source = at.find(n.src[port]);
      if (source == at.end()) {
        box.folded.push_back({port, n.src[port], foldedText(read, nodes.fields(n.src[port]))});
        continue;
      }
      const Mark from = shown[source->second].second;
      out["edges"].push_back({{"from", source->second},
                              {"to", at[n.id]},
                              {"port", port},
                              {"ports", ports},
                              {"mark", static_cast<int>(mark != Mark::Same ? mark : from)}});
    }
    joinFolded(box.folded);
    out["nodes"].push_back(nodeJson(box, mark));
  }
  return out;
}

} // namespace

json rewriteGraph(UOp before, UOp after, int depth) {
  const std::vector<UOp> old = near({before}, depth, kMostDrawn / 2),
                         now = near({after}, depth, kMostDrawn / 2);
  // A node is there before or after where the whole expression has it, however deep.
  const UOpMap<bool> inOld = setOf(before), inNow = setOf(after);
  Marked shown;
  for (const UOp u : now) shown.emplace_back(u, inOld.contains(u) ? Mark::Same : Mark::Added);
  for (const UOp u : old)
    if (std::ranges::find(now, u) == now.end())
      shown.emplace_back(u, inNow.contains(u) ? Mark::Same : Mark::Removed);
  return pictureJson(std::move(shown), before, after);
}

json wholeRewriteGraph(UOp before, UOp after, const UOpMap<UOp>& images) {
  const UOpMap<bool> inOld = setOf(before), inNow = setOf(after);
  UOpMap<bool> rebuilt; // with other sources, and nothing else
  for (const auto& [old, now] : images)
    if (old != now && old.op() == now.op() && old.arg() == now.arg() && old.srcCount() == now.srcCount())
      rebuilt[now] = true;
  std::vector<UOp> first{after};
  Marked shown;
  for (const auto& [u, there] : inNow)
    if (!inOld.contains(u) && !rebuilt.contains(u)) first.push_back(u);
  std::ranges::sort(first.begin() + 1, first.end(), {}, [](UOp u) { return u.id(); });
  for (const UOp u : near(first, INT_MAX, kMostWhole / 2))
    shown.emplace_back(u, inOld.contains(u) ? Mark::Same : rebuilt.contains(u) ? Mark::Changed : Mark::Added);
  for (const UOp u : before.toposort()) {
    const auto image = images.find(u);
    const bool goesOn = image != images.end() && rebuilt.contains(image->second);
    if (!inNow.contains(u) && !goesOn && shown.size() < kMostWhole) shown.emplace_back(u, Mark::Removed);
  }
  return pictureJson(std::move(shown), before, after);
}

namespace {

std::string typesOf(const PatNode& n) {
  if (n.exactDtype) return shortType(DType::fromBits(n.exactDtype));
  if (n.dtypes == 0) return {};
  if (n.dtypes == kMaskInts) return "ints";
  if (n.dtypes == kMaskFloats) return "floats";
  std::string out;
  for (int k = 0; k < kScalarCount; ++k)
    if (n.dtypes >> k & 1) out += (out.empty() ? "" : " or ") + shortType(DType(static_cast<Scalar>(k)));
  return out;
}

std::string opsOf(const PatNode& n) {
  if (n.oneOf) return "one of";
  std::string out;
  int count = 0;
  for (int op = 0; op < static_cast<int>(kOpCount); ++op)
    if (n.ops.has(static_cast<Op>(op)) && ++count <= 3)
      out += (out.empty() ? "" : " | ") + std::string(opName(static_cast<Op>(op)));
  return count == 0 ? "any" : count > 3 ? fmt::format("{} | {} more", out, count - 3) : out;
}

} // namespace

json patternGraph(const Rule& rule) {
  json out{{"nodes", json::array()}, {"edges", json::array()}};
  const auto pattern = rule.pattern();
  for (size_t k = 0; k < pattern.size(); ++k) {
    const PatNode& n = pattern[k];
    PictureNode box;
    box.op = opsOf(n);
    if (n.var >= 0 && static_cast<size_t>(n.var) < rule.vars().size())
      box.detail = rule.vars()[static_cast<size_t>(n.var)].data();
    if (n.argTest == PatNode::ArgTest::Number)
      box.detail += fmt::format("{}= {:g}", box.detail.empty() ? "" : " ", n.number);
    if (n.mode == SrcMode::AnyOrder && n.childCount > 1)
      box.detail += box.detail.empty() ? "any order" : ", any order";
    if (n.mode == SrcMode::Prefix) box.detail += box.detail.empty() ? "and more" : ", and more";
    box.dtype = typesOf(n);
    box.family =
        box.op == "any" || n.oneOf ? OpFamily::Control : opFamily(box.op.substr(0, box.op.find(' ')));
    out["nodes"].push_back(nodeJson(box, Mark::Same));
    for (uint32_t c = 0; c < n.childCount; ++c)
      out["edges"].push_back({{"from", n.children[c]},
                              {"to", k},
                              {"port", c},
                              {"ports", n.childCount},
                              {"mark", static_cast<int>(Mark::Same)}});
  }
  return out;
}

PicturePtr pictureOf(const json& graph) {
  if (!graph.is_object() || !graph.contains("nodes") || !graph["nodes"].is_array()) return nullptr;
  auto number = [](const json& j, const char* key, int64_t most) {
    const auto it = j.find(key);
    return it != j.end() && it->is_number_integer() ? std::clamp<int64_t>(it->get<int64_t>(), 0, most) : 0;
  };
  auto text = [](const json& j, const char* key) {
    const auto it = j.find(key);
    return it != j.end() && it->is_string() ? clipped(it->get<std::string>(), kMostText) : std::string();
  };
  auto picture = std::make_shared<Picture>();
  picture->pass = -3;
  for (const json& n : graph["nodes"]) {
    if (!n.is_object() || picture->nodes.size() == kMostWhole) continue;
    PictureNode box;
    box.id = static_cast<int64_t>(picture->nodes.size()) + 1;
    box.op = text(n, "op"), box.detail = text(n, "detail"), box.dtype = text(n, "dtype");
    box.family = static_cast<OpFamily>(number(n, "family", kOpFamilyCount - 1));
    box.mark = static_cast<Mark>(number(n, "mark", static_cast<int>(Mark::Changed)));
    if (n.contains("folded") && n["folded"].is_array())
      for (const json& f : n["folded"])
        if (f.is_object() && box.folded.size() < kMostDrawn)
          box.folded.push_back({static_cast<uint32_t>(number(f, "port", 1000)), 0, text(f, "text"),
                                static_cast<uint32_t>(std::max<int64_t>(1, number(f, "count", 1000)))});
    measure(box);
    picture->nodes.push_back(std::move(box));
  }
  const size_t count = picture->nodes.size();
  if (count == 0) return nullptr;
  if (graph.contains("edges") && graph["edges"].is_array())
    for (const json& e : graph["edges"]) {
      if (!e.is_object() || picture->edges.size() == kMostWhole * 4) continue;
      const auto from = static_cast<uint32_t>(number(e, "from", 1 << 20)),
                 to = static_cast<uint32_t>(number(e, "to", 1 << 20));
      if (from >= count || to >= count || from == to) continue;
      PictureEdge edge;
      edge.from = from, edge.to = to;
      edge.ports = static_cast<uint32_t>(std::max<int64_t>(1, number(e, "ports", 1000)));
      edge.port = static_cast<uint32_t>(number(e, "port", edge.ports - 1));
      edge.mark = static_cast<Mark>(number(e, "mark", static_cast<int>(Mark::Changed)));
      ++picture->nodes[from].users;
      picture->edges.push_back(edge);
    }
  joinWires(*picture);
  std::vector<LayoutNode> boxes;
  std::vector<LayoutEdge> edges;
  for (const PictureNode& n : picture->nodes) boxes.push_back({n.width, n.height});
  for (const PictureEdge& e : picture->edges) edges.push_back({e.from, e.to, e.port});
  Layout layout = layoutLayered(boxes, edges);
  for (size_t i = 0; i < count; ++i)
    picture->nodes[i].x = layout.centres[i].x, picture->nodes[i].y = layout.centres[i].y;
  const auto bends = std::make_shared<const std::vector<std::vector<LayoutPoint>>>(std::move(layout.bends));
  for (size_t i = 0; i < edges.size(); ++i) picture->edges[i].bends = (*bends)[i];
  picture->bendsOf = bends;
  picture->width = layout.width, picture->height = layout.height;
  picture->index();
  return picture;
}

} // namespace uopscope
