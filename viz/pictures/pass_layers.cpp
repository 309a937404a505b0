// The layers of a model as nested groups, each a box that opens. A recording keeps the calls around each tensor
// operation ("model/blocks.3/narrow"); within the innermost call the operations are groups themselves.
//
//   Arrangement a;  a.groupBy = GroupBy::Layer;  a.level = "model/blocks.3";  view.arrange(a);
//
// Nodes without calls (weights, shapes) belong to the innermost layer that has all their users. Layers in a row with
// equal results ("blocks.0" to "blocks.2") are joined by a group that is opened where the pane has room. The file
// pass_levels.cpp draws one level of them.
#include "engine/uop/sint.h"
#include "replay/read/materialize.h"
#include "replay/read/provenance.h"
#include "viz/pictures/labels.h"
#include "viz/pictures/pass_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {
namespace {

/// An operation of more nodes is divided into its separate parts.
constexpr uint32_t kDivided = 24;

/// "blocks.12" -> {"blocks.", 12}; a number of -1 where there is none.
std::pair<std::string_view, int> numbered(std::string_view name) {
  size_t at = name.size();
  while (at > 0 && name.size() - at < 6 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
  if (at == name.size() || at == 0) return {name, -1};
  return {name.substr(0, at), std::stoi(std::string(name.substr(at)))};
}

bool onlyMoves(Op op) {
  const OpFamily family = opFamily(opName(op));
  return family == OpFamily::Movement || family == OpFamily::Constant || op == Op::CONTIGUOUS ||
         op == Op::CAST;
}

std::vector<std::string> partsOf(const std::string& calls) {
  std::vector<std::string> out;
  for (size_t at = 0; at < calls.size();) {
    const size_t end = std::min(calls.find('/', at), calls.size());
    out.push_back(calls.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

} // namespace

uint32_t PassView::commonLayer(uint32_t a, uint32_t b) const {
  while (a != b && a != kNoSlot && b != kNoSlot)
    (groups_[a].depth >= groups_[b].depth ? a : b) =
        groups_[groups_[a].depth >= groups_[b].depth ? a : b].parent;
  return a == b ? a : kNoSlot;
}

uint32_t PassView::addLayer(uint32_t parent, const std::string& name, const std::string& title) {
  Group g{title, {}, OpFamily::Control, {}, 0, 0, 0};
  g.path = parent == kNoSlot ? name : groups_[parent].path + "/" + name;
  g.parent = parent;
  g.depth = parent == kNoSlot ? 0 : groups_[parent].depth + 1;
  groups_.push_back(std::move(g));
  return static_cast<uint32_t>(groups_.size()) - 1;
}

void PassView::makeLayers(const std::vector<NodeId>& latest) {
  Provenance provenance(trace_, cursor_.info().scope);
  std::map<std::pair<uint32_t, std::string>, uint32_t> known;
  auto enter = [&](uint32_t parent, const std::string& name, const std::string& title) {
    const auto [it, fresh] = known.try_emplace({parent, name}, 0);
    if (fresh) it->second = addLayer(parent, name, title);
    return it->second;
  };
  for (uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (latest[slot] == kNoNode || mayBeHub(cursor_.fields(latest[slot]).op)) continue;
    Provenance::Call origin;
    try {
      origin = provenance.call(latest[slot]);
    } catch (const Error&) { // a node that no engine makes, or one between two steps
    }
    if (origin.operation.empty() || (origin.calls.empty() && !origin.script.known())) continue;
    uint32_t group = kNoSlot;
    for (const std::string& part : partsOf(origin.calls)) group = enter(group, part, part);
    group = enter(group, fmt::format("{}:{}", origin.operation, origin.script.line), origin.operation);
    if (origin.script.known()) groups_[group].detail = fmt::format("line {}", origin.script.line);
    groups_[group].operation = true;
    slots_[slot].group = group;
  }
  placeByUsers(latest);
  divideLargeOperations(latest);
  countAndName(latest);
  joinEqualLayers();
  for (Group& g : groups_) {
    PictureNode box;
    box.op = g.title, box.detail = g.detail, box.dtype = g.dtype;
    measure(box);
    g.width = box.width, g.height = box.height;
  }
}

// Weights were made elsewhere than they are used: a script makes them before it calls the model.
void PassView::placeByUsers(const std::vector<NodeId>& latest) {
  std::vector<std::vector<uint32_t>> users;
  for (const uint32_t slot : usersFirst(latest, users)) {
    if (latest[slot] == kNoNode || users[slot].empty()) continue;
    uint32_t& own = slots_[slot].group;
    const bool outside = own != kNoSlot && groups_[own].operation && groups_[own].parent == kNoSlot;
    if (own != kNoSlot && !(outside && onlyMoves(cursor_.fields(latest[slot]).op))) continue;
    uint32_t group = slots_[users[slot].front()].group;
    for (const uint32_t user : users[slot]) group = commonLayer(group, slots_[user].group);
    if (group != kNoSlot) own = group;
  }
}

// A line that makes all weights of a model is one operation to the script, and dozens of results. A part is a result with
// what only it needs.
void PassView::divideLargeOperations(const std::vector<NodeId>& latest) {
  std::vector<uint32_t> size(groups_.size(), 0), part(slots_.size(), kNoSlot);
  for (const Slot& s : slots_)
    if (s.group != kNoSlot) ++size[s.group];
  std::vector<std::vector<uint32_t>> users;
  std::map<uint32_t, std::vector<uint32_t>> results; ///< by operation: its results
  for (const uint32_t slot : usersFirst(latest, users)) {
    const uint32_t whole = slots_[slot].group;
    if (latest[slot] == kNoNode || whole == kNoSlot || !groups_[whole].operation || size[whole] <= kDivided)
      continue;
    bool result = users[slot].empty();
    for (const uint32_t user : users[slot]) result |= slots_[user].group != whole;
    if (result) {
      results[whole].push_back(slot);
      part[slot] = slot;
      continue;
    }
    part[slot] = part[users[slot].front()];
    for (const uint32_t user : users[slot])
      if (part[user] != part[slot]) part[slot] = kNoSlot; // several need it: it stays beside the parts
  }
  for (const auto& [whole, of] : results) {
    if (of.size() < 2) continue;
    groups_[whole].operation = false;
    std::map<uint32_t, uint32_t> made;
    std::vector<uint32_t> inOrder =
        of; // users come first there, and nodes that were made first have smaller slots
    std::sort(inOrder.begin(), inOrder.end());
    for (const uint32_t result : inOrder) {
      const std::string name = fmt::format("{}.{}", groups_[whole].title, made.size());
      const uint32_t group = addLayer(whole, name, name);
      groups_[group].operation = true;
      made.emplace(result, group);
    }
    for (uint32_t slot = 0; slot < slots_.size(); ++slot)
      if (slots_[slot].group == whole && part[slot] != kNoSlot) slots_[slot].group = made.at(part[slot]);
  }
}

// Number of nodes, kind and result of each layer. The result is the last node that something else reads.
void PassView::countAndName(const std::vector<NodeId>& latest) {
  std::vector<uint32_t> result(groups_.size(), kNoSlot);
  for (const Link& l : links_) {
    if (latest[l.from] == kNoNode) continue;
    for (uint32_t g = slots_[l.from].group; g != kNoSlot && !inside(slots_[l.to].group, g);
         g = groups_[g].parent)
      if (result[g] == kNoSlot || latest[result[g]] < latest[l.from]) result[g] = l.from;
  }
  for (uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (latest[slot] == kNoNode) continue;
    const Op op = cursor_.fields(latest[slot]).op;
    const bool reduces = op == Op::REDUCE || op == Op::REDUCE_AXIS || op == Op::ALLREDUCE;
    for (uint32_t g = slots_[slot].group; g != kNoSlot; g = groups_[g].parent) {
      ++groups_[g].slots;
      if (reduces) groups_[g].family = OpFamily::Reduction;
    }
  }
  Pool pool;
  PoolScope scope(pool);
  Materializer make(read_, pool);
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    group.dtype = group.slots == 1 ? "1 node" : fmt::format("{} nodes", group.slots);
    if (result[g] == kNoSlot) continue;
    try {
      const UOp u = make(latest[result[g]]);
      if (!u.hasShape()) continue;
      for (const auto& s : u.shape()) group.shape += (group.shape.empty() ? "" : "×") + s.str();
    } catch (const Error&) { // no engine makes such a node: the box lacks its shape
    }
    if (!group.shape.empty()) group.detail += (group.detail.empty() ? "" : " · ") + group.shape;
  }
}

void PassView::joinEqualLayers() {
  const auto all = static_cast<uint32_t>(groups_.size());
  std::map<std::pair<uint32_t, std::string>, std::map<int, uint32_t>> rows;
  for (uint32_t g = 0; g < all; ++g)
    if (const auto [stem, number] = numbered(groups_[g].title); number >= 0)
      rows[{groups_[g].parent, std::string(stem)}].emplace(number, g);
  for (const auto& [of, row] : rows)
    for (auto first = row.begin(); first != row.end();) {
      auto next = std::next(first);
      int last = first->first;
      while (next != row.end() && next->first == last + 1 &&
             groups_[next->second].shape == groups_[first->second].shape)
        last = next->first, ++next;
      const auto count = static_cast<uint32_t>(std::distance(first, next));
      if (count > 1) {
        const std::string name = fmt::format("{}{}–{}", of.second, first->first, last);
        const uint32_t joined = addLayer(of.first, name, fmt::format("{} ×{}", name, count));
        groups_[joined].repeats = count;
        groups_[joined].family = groups_[first->second].family;
        groups_[joined].detail = groups_[joined].shape = groups_[first->second].shape;
        for (auto it = first; it != next; ++it) {
          groups_[joined].slots += groups_[it->second].slots;
          groups_[it->second].parent = joined;
        }
        groups_[joined].dtype = fmt::format("{} nodes", groups_[joined].slots);
      }
      first = next;
    }
  // Parents were numbered before the groups that join their children, so depths are counted anew.
  auto depthOf = [&](uint32_t g) {
    uint32_t depth = 0;
    for (g = groups_[g].parent; g != kNoSlot; g = groups_[g].parent) ++depth;
    return depth;
  };
  for (uint32_t g = 0; g < groups_.size(); ++g) groups_[g].depth = depthOf(g);
}

} // namespace uopscope
