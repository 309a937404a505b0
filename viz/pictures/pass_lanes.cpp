// Lanes of a small picture: nodes with the same work on different numbers become one box "MUL x16". Vectors
// and unrolled loops make many of them, and sixteen equal rows say less than one.
//
// Nodes are lanes of each other where their sub-graphs have the same shape (apart from constants and lane
// numbers), their users are the same, and the steps shown changed them in the same way. Such nodes are
// equally far from the leaves, so drawing them as one closes no cycle.
#include "viz/pictures/labels.h"
#include "viz/pictures/pass_view.h"

#include <algorithm>
#include <unordered_map>

namespace uopscope {
namespace {

/// Smallest number of equal nodes that become lanes.
constexpr size_t kLanes = 4;
/// Larger graphs are not searched, so that a step stays fast.
constexpr size_t kMostSearched = 4000;

uint64_t mixed(uint64_t a, uint64_t b) {
  a = (a ^ b) * 0x9e3779b97f4a7c15ull;
  return a ^ (a >> 29);
}

} // namespace

void PassView::makeLanes() {
  if (arrangement_.groupBy != GroupBy::Nothing) return;
  groups_.clear();
  for (Slot& s : slots_) s.group = kNoSlot;
  if (!options_.foldConstants) return;
  // Nodes that exist only before the first step are searched in the graph before it.
  for (const int64_t step : {lastShown_, firstShown_ - 1})
    findLanes(cursor_.graphAt(std::clamp<int64_t>(step, 0, steps())));
}

void PassView::findLanes(const std::vector<NodeId>& graph) {
  if (graph.size() > kMostSearched || graph.empty()) return;
  std::unordered_map<NodeId, uint32_t> at;
  for (uint32_t i = 0; i < graph.size(); ++i) at.emplace(graph[i], i);
  std::vector<uint64_t> down(graph.size()), up(graph.size(), 1);
  std::vector<std::vector<uint32_t>> users(graph.size());
  for (uint32_t i = 0; i < graph.size(); ++i) { // sources come first
    const NodeFields n = cursor_.fields(graph[i]);
    uint64_t h = mixed(static_cast<uint64_t>(n.op), std::hash<std::string>{}(n.dtype.name()));
    const bool number = n.op == Op::CONST || n.op == Op::VCONST || n.op == Op::GEP;
    if (!number) h = n.src.empty() ? mixed(h, graph[i]) : mixed(h, std::hash<std::string>{}(n.arg.repr()));
    for (NodeId s : n.src)
      if (const auto from = at.find(s); from != at.end()) {
        h = mixed(h, down[from->second]);
        users[from->second].push_back(i);
      }
    down[i] = h;
  }
  std::map<uint64_t, std::vector<uint32_t>> lanes;
  for (uint32_t i = static_cast<uint32_t>(graph.size()); i-- > 0;) {
    std::vector<uint64_t> read;
    for (uint32_t u : users[i]) read.push_back(mixed(down[u], up[u]));
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    for (uint64_t r : read) up[i] = mixed(up[i], r);
    const auto slot = slotOf(graph[i]);
    if (!slot || slots_[*slot].group != kNoSlot || users[i].empty() || hidesInLabel(graph[i]) ||
        graph[i] == arrangement_.kept || arrangement_.shown.contains(*slot))
      continue;
    if (mayBeHub(cursor_.fields(graph[i]).op)) continue;
    lanes[mixed(mixed(down[i], up[i]), touched_.empty() ? 0 : touched_[*slot])].push_back(i);
  }
  for (const auto& [hash, members] : lanes) {
    if (members.size() < kLanes) continue;
    const auto group = static_cast<uint32_t>(groups_.size());
    PictureNode box = labelOf(read_, cursor_.fields(graph[members.front()]));
    const std::string title = box.op;
    box.op += " ×" + std::to_string(members.size());
    box.detail = "as many lanes";
    box.was.clear();
    measure(box);
    groups_.push_back(
        {title, {}, box.family, {}, box.width, box.height, static_cast<uint32_t>(members.size())});
    groups_.back().dtype = box.dtype;
    groups_.back().lanes = true;
    for (uint32_t i : members) slots_[*slotOf(graph[i])].group = group;
  }
}

} // namespace uopscope
