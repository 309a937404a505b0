// Groups of a PassView, and pictures folded by them. The last node of a slot decides its group once, so the
// group is the same at every step.
#include "replay/read/materialize.h"
#include "replay/read/provenance.h"
#include "viz/pictures/labels.h"
#include "viz/pictures/pass_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace uopscope {
namespace {

bool isReduce(Op op) {
  return op == Op::REDUCE || op == Op::REDUCE_AXIS || op == Op::ALLREDUCE;
}
bool isKernel(Op op) {
  return op == Op::KERNEL || op == Op::BUFFERIZE || op == Op::CONTIGUOUS || op == Op::STORE || op == Op::COPY;
}

/// The tensor operation that a node came from, and its line in the script: {"conv2d", "line 12"}.
std::pair<std::string, std::string> originOf(Provenance& provenance, NodeId node) {
  try {
    if (const auto from = provenance.origins(node); !from.empty())
      return {from.front().operation,
              from.front().script.known() ? fmt::format("line {}", from.front().script.line) : ""};
  } catch (const Error&) { // a node that no engine makes, or one between two steps
  }
  return {};
}

} // namespace

// A depth-first walk over users, so that all users of a slot are decided before it.
std::vector<uint32_t> PassView::usersFirst(const std::vector<NodeId>& latest,
                                           std::vector<std::vector<uint32_t>>& users) {
  users.assign(slots_.size(), {});
  std::vector<uint32_t> order;
  for (NodeId node : members_) {
    const uint32_t to = *slotOf(node);
    if (latest[to] != node) continue;
    for (NodeId s : cursor_.raw(node).src)
      if (const auto from = slotOf(s); from && *from != to) users[*from].push_back(to);
  }
  std::vector<uint8_t> state(slots_.size(), 0);
  std::vector<std::pair<uint32_t, size_t>> stack;
  for (uint32_t start = 0; start < slots_.size(); ++start) {
    if (state[start]) continue;
    stack.push_back({start, 0});
    state[start] = 1;
    while (!stack.empty()) {
      auto& [slot, next] = stack.back();
      if (next < users[slot].size()) {
        const uint32_t u = users[slot][next++];
        if (!state[u]) state[u] = 1, stack.push_back({u, 0});
      } else {
        order.push_back(slot);
        stack.pop_back();
      }
    }
  }
  return order;
}

// A node belongs to the reduction (or kernel) of its users if they agree. Where they do not, a value that several
// groups read begins a group of its own (the sum at the end of a residual block), so that groups of reductions cover
// the graph. Only the first node of a group is read from outside it, so groups close no cycle.
void PassView::groupByRoot(const std::vector<NodeId>& latest, bool reduce) {
  std::vector<std::vector<uint32_t>> users;
  const std::vector<uint32_t> order = usersFirst(latest, users);
  Provenance provenance(trace_, cursor_.info().scope);
  auto begin = [&](uint32_t slot, const NodeFields& n) {
    const PictureNode box = labelOf(read_, n);
    Group group{box.op, box.detail, box.family, {}, 0, 0, 0};
    const auto [operation, line] = originOf(provenance, latest[slot]);
    if (reduce && !operation.empty()) group.title = operation, group.detail = line + " " + box.op;
    slots_[slot].group = static_cast<uint32_t>(groups_.size());
    groups_.push_back(std::move(group));
  };
  for (uint32_t slot : order) {
    if (latest[slot] == kNoNode) continue;
    const NodeFields n = cursor_.fields(latest[slot]);
    if (reduce ? isReduce(n.op) : isKernel(n.op)) {
      begin(slot, n);
    } else if (!users[slot].empty() && !mayBeHub(n.op)) {
      uint32_t group = slots_[users[slot][0]].group;
      bool agree = true;
      for (uint32_t u : users[slot]) agree &= slots_[u].group == group;
      if (agree)
        slots_[slot].group = group;
      else if (reduce)
        begin(slot, n);
    }
  }
}

void PassView::makeGroups() {
  groups_.clear();
  for (Slot& s : slots_) s.group = kNoSlot;
  if (arrangement_.groupBy == GroupBy::Nothing) return;
  std::vector<NodeId> latest(slots_.size(), kNoNode);
  for (NodeId node : members_)
    if (!folds(node)) latest[*slotOf(node)] = node;
  if (arrangement_.groupBy == GroupBy::Layer) return makeLayers(latest);
  if (arrangement_.groupBy == GroupBy::Reduce || arrangement_.groupBy == GroupBy::Kernel) {
    groupByRoot(latest, arrangement_.groupBy == GroupBy::Reduce);
  } else {
    std::map<std::string, uint32_t> byKey;
    Pool pool;
    PoolScope scope(pool);
    Materializer make(read_, pool);
    Provenance provenance(trace_, cursor_.info().scope);
    for (uint32_t slot = 0; slot < slots_.size(); ++slot) {
      if (latest[slot] == kNoNode || mayBeHub(cursor_.fields(latest[slot]).op)) continue;
      std::string title, detail;
      try {
        if (arrangement_.groupBy == GroupBy::Loop) {
          for (const UOp& r : make(latest[slot]).ranges()) title += (title.empty() ? "" : " ") + r.render();
          detail = title.empty() ? "" : "in these loops";
        } else if (const auto from = provenance.origins(latest[slot]); !from.empty()) {
          const OriginInfo& first = from.front();
          const std::string line = first.script.known() ? fmt::format("line {}", first.script.line) : "";
          const bool byLine = arrangement_.groupBy == GroupBy::Line;
          title = byLine ? line : first.operation;
          detail = byLine ? first.script.file.substr(first.script.file.rfind('/') + 1) : line;
        }
      } catch (const Error&) { // a node that no engine makes, or one between two steps, is in no group
      }
      if (title.empty()) continue;
      const auto [it, fresh] =
          byKey.emplace(fmt::format("{}\n{}", title, detail), static_cast<uint32_t>(groups_.size()));
      if (fresh) groups_.push_back({title, detail, OpFamily::Control, {}, 0, 0, 0});
      slots_[slot].group = it->second;
    }
  }
  for (const Slot& s : slots_)
    if (s.group != kNoSlot) ++groups_[s.group].slots;
  // A single node is no group.
  for (Slot& s : slots_)
    if (s.group != kNoSlot && groups_[s.group].slots < 2) s.group = kNoSlot;
  for (Group& g : groups_) {
    PictureNode box;
    box.op = g.title;
    box.dtype = fmt::format("{} nodes", g.slots);
    box.detail = g.detail;
    measure(box);
    g.width = box.width;
    g.height = box.height;
  }
}

// Removes hidden nodes and replaces the nodes of a group by the group.
void PassView::fold(Picture& p) {
  groupNodes_.clear();
  std::vector<PictureNode> nodes;
  std::vector<uint32_t> now(p.nodes.size(), kNoSlot);
  std::map<uint32_t, uint32_t> groupAt;
  for (uint32_t i = 0; i < p.nodes.size(); ++i) {
    PictureNode& n = p.nodes[i];
    if (n.slot != kNoSlot && hides(n.slot)) {
      ++p.hiddenNodes;
      if (n.mark != Mark::Removed && p.graphNodes > 0) --p.graphNodes;
    } else if (n.slot != kNoSlot && collapsed(n.slot)) {
      const uint32_t g = boxOf(n.slot);
      groupNodes_[g].push_back(static_cast<NodeId>(n.id));
      const auto [it, fresh] = groupAt.emplace(g, static_cast<uint32_t>(nodes.size()));
      if (fresh) {
        const Group& group = groups_[g];
        PictureNode box;
        box.id = kFirstGroupId + g;
        box.op = group.title, box.detail = group.detail, box.family = group.family;
        box.x = group.centre.x, box.y = group.centre.y, box.width = group.width, box.height = group.height;
        box.mark = n.mark;
        nodes.push_back(std::move(box));
      }
      PictureNode& box = nodes[it->second];
      box.slots.push_back(n.slot);
      if (n.mark != Mark::Removed || groups_[g].lanes) ++box.members;
      if (n.mark != box.mark) box.mark = Mark::Changed;
      ++p.groupedNodes;
      now[i] = it->second;
    } else {
      now[i] = static_cast<uint32_t>(nodes.size());
      nodes.push_back(std::move(n));
    }
  }
  for (PictureNode& n : nodes) {
    if (n.id < kFirstGroupId) continue;
    const Group& group = groups_[static_cast<size_t>(n.id - kFirstGroupId)];
    n.dtype = group.lanes || byLayer() ? group.dtype : fmt::format("{} nodes", n.members);
    if (group.lanes) n.op = fmt::format("{} ×{}", group.title, n.members);
    const PictureNode laidOut = n;
    measure(n);
    n.width = laidOut.width, n.height = laidOut.height;
  }
  p.groups = static_cast<uint32_t>(groupAt.size());
  std::vector<PictureEdge> edges;
  std::unordered_map<uint64_t, size_t> joined;
  auto endOf = [](const PictureNode& n) {
    return n.id >= kFirstGroupId ? groupEnd(static_cast<uint32_t>(n.id - kFirstGroupId)) : n.slot;
  };
  for (PictureEdge& e : p.edges) {
    const uint32_t from = now[e.from], to = now[e.to];
    if (from == kNoSlot || to == kNoSlot || from == to) continue;
    const bool folded = nodes[from].id >= kFirstGroupId || nodes[to].id >= kFirstGroupId;
    if (folded)
      if (const auto [known, fresh] = joined.emplace(key(from, to), edges.size()); !fresh) {
        PictureEdge& one = edges[known->second];
        ++one.times;
        if (one.mark != e.mark) one.mark = Mark::Same;
        continue;
      }
    e.from = from, e.to = to;
    if (nodes[to].id >= kFirstGroupId) e.port = 0, e.ports = 1;
    if (folded) {
      const auto bends = bends_->find(key(endOf(nodes[from]), endOf(nodes[to])));
      e.bends = bends != bends_->end() ? std::span<const LayoutPoint>(bends->second)
                                       : std::span<const LayoutPoint>();
    }
    edges.push_back(e);
  }
  p.nodes = std::move(nodes);
  p.edges = std::move(edges);
  p.hiddenEdges = static_cast<uint32_t>(
      std::count_if(p.edges.begin(), p.edges.end(), [](const PictureEdge& e) { return e.quiet; }));
}

std::vector<NodeId> PassView::groupMembers(int64_t groupId) const {
  const auto it = groupNodes_.find(static_cast<uint32_t>(groupId - kFirstGroupId));
  return it == groupNodes_.end() ? std::vector<NodeId>() : it->second;
}

} // namespace uopscope
