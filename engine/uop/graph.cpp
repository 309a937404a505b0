// Graph algorithms: topological order, slices, consumers, substitution, content keys. A chain of a hundred
// thousand nodes is an ordinary graph here, so all of them are iterative and linear in nodes and edges.
#include "engine/base/hash.h"
#include "engine/base/id_map.h"
#include "engine/uop/uop.h"

#include <cstring>

namespace uopscope {

namespace {

/// Visits each node once, depth first, sources in order, and a node after its sources.
template <typename Enter, typename Visit>
void walk(UOp root, const Enter& enter, const Visit& visit) {
  IdMap<bool> seen;
  struct Frame {
    UOp u;
    uint32_t next;
  };
  std::vector<Frame> stack;
  if (!enter(root)) return;
  seen.set(root.slot(), true);
  stack.push_back({root, 0});
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next < top.u.srcCount()) {
      UOp s = top.u.src(top.next++);
      if (seen.contains(s.slot())) continue;
      seen.set(s.slot(), true);
      if (enter(s)) stack.push_back({s, 0});
    } else {
      visit(top.u);
      stack.pop_back();
    }
  }
}

constexpr auto kEverything = [](UOp) { return true; };

} // namespace

std::vector<UOp> UOp::toposort() const {
  std::vector<UOp> order;
  walk(*this, kEverything, [&](UOp u) { order.push_back(u); });
  return order;
}
std::vector<UOp> UOp::toposort(const std::function<bool(UOp)>& enter) const {
  std::vector<UOp> order;
  walk(*this, enter, [&](UOp u) { order.push_back(u); });
  return order;
}

std::vector<UOp> UOp::backwardSlice(bool withSelf) const {
  std::vector<UOp> order = toposort();
  if (!withSelf) order.pop_back();
  return order;
}

bool UOp::dependsOn(UOp other) const {
  // Sources are made before their users, so a node with a smaller id than `other` cannot depend on it.
  bool found = false;
  walk(
      *this,
      [&](UOp u) { return found |= u == other, !found && u.id() > other.id() && u.below().has(other.op()); },
      [](UOp) {});
  return found;
}

UOpMap<std::vector<UOp>> UOp::consumerMap() const {
  UOpMap<std::vector<UOp>> consumers;
  for (UOp u : toposort()) {
    consumers.try_emplace(u);
    for (UOp s : u.src()) {
      auto& users = consumers[s];
      if (users.empty() || users.back() != u) users.push_back(u);
    }
  }
  return consumers;
}

UOp UOp::substitute(const UOpMap<UOp>& replacements) const {
  if (replacements.empty()) return *this;
  IdMap<const Node*> result;
  auto replaced = [&](UOp u) {
    if (auto it = replacements.find(u); it != replacements.end()) {
      result.set(u.slot(), it->second.node());
      return true;
    }
    return false;
  };
  std::vector<UOp> src;
  walk(
      *this, [&](UOp u) { return !replaced(u); },
      [&](UOp u) {
        src.clear();
        bool changed = false;
        for (UOp s : u.src()) {
          src.emplace_back(*result.find(s.slot()));
          changed |= src.back() != s;
        }
        result.set(u.slot(), changed ? u.withSrc(src).node() : u.node());
      });
  return UOp(*result.find(slot()));
}

std::pair<uint64_t, uint64_t> UOp::key() const {
  using Key = std::pair<uint64_t, uint64_t>;
  IdMap<Key> keys;
  auto mix = [](uint64_t h, uint64_t v) {
    return mixHash(h, v, 0xD6E8FEB86659FD93ull) + 0x2545F4914F6CDD1Dull;
  };
  Key last;
  walk(*this, kEverything, [&](UOp u) {
    Key k{0x452821E638D01377ull, 0xBE5466CF34E90C6Cull};
    auto add = [&](uint64_t v) {
      k.first = mix(k.first, v);
      k.second = mix(k.second + v, k.first);
    };
    add(static_cast<uint64_t>(u.op()) << 32 | u.srcCount());
    add(u.dtype().bits());
    add(static_cast<uint64_t>(u.arg().kind()) << 8 | static_cast<uint64_t>(u.tag().kind()));
    add(u.arg().hash());
    add(u.tag().hash());
    for (UOp s : u.src()) {
      Key sk = *keys.find(s.slot());
      add(sk.first);
      add(sk.second);
    }
    keys.set(u.slot(), k);
    last = k;
  });
  return last;
}

} // namespace uopscope
