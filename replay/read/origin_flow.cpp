// Per pass, the Cursor tells the image of each node at the end of the pass. Nodes with one image share their
// origins. Nodes that a rule made get the origins of the node it rewrote.
#include "replay/read/origin_flow.h"

#include <algorithm>
#include <unordered_set>

namespace uopscope {

OriginTable::OriginTable(Trace& trace) {
  std::map<std::tuple<std::string, std::string, int, std::string>, uint32_t> known;
  std::unordered_map<NodeId, std::vector<uint32_t>> byNode;
  std::unordered_map<NodeId, std::string> calls;
  for (Statement s = trace.database().prepare(
           "SELECT node, value FROM origin_calls JOIN string ON string.id = origin_calls.calls");
       s.step();)
    calls.emplace(static_cast<NodeId>(s.integer(0)), s.text(1));
  for (OriginInfo& o : trace.allOrigins()) {
    const auto around = calls.find(o.node);
    const std::string where = around == calls.end() ? std::string() : around->second;
    auto [it, fresh] = known.try_emplace({o.operation, o.script.file, o.script.line, where},
                                         static_cast<uint32_t>(all_.size()));
    byNode[o.node].push_back(it->second);
    if (!fresh) continue;
    calls_.push_back(where);
    all_.push_back(std::move(o));
  }
  for (auto& [node, members] : byNode) direct_[node] = setOf(std::move(members));
}

OriginTable::Set OriginTable::direct(NodeId node) const {
  auto it = direct_.find(node);
  return it == direct_.end() ? 0 : it->second;
}

OriginTable::Set OriginTable::setOf(std::vector<uint32_t> members) {
  std::ranges::sort(members);
  members.erase(std::unique(members.begin(), members.end()), members.end());
  if (members.empty()) return 0;
  auto [it, fresh] = index_.try_emplace(members, static_cast<Set>(sets_.size()));
  if (fresh) sets_.push_back(std::move(members));
  return it->second;
}

OriginTable::Set OriginTable::unite(Set a, Set b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  if (sets_[a].size() >= kMost) return a;
  auto [it, fresh] = united_.try_emplace(uint64_t{std::min(a, b)} << 32 | std::max(a, b), 0);
  if (fresh) {
    std::vector<uint32_t> both = sets_[a];
    both.insert(both.end(), sets_[b].begin(), sets_[b].end());
    Set made = setOf(std::move(both));
    united_[uint64_t{std::min(a, b)} << 32 | std::max(a, b)] = made;
    return made;
  }
  return it->second;
}

OriginTable::Set OriginTable::within(Set a, Set b) {
  std::vector<uint32_t> both;
  std::ranges::set_intersection(sets_[a], sets_[b], std::back_inserter(both));
  return both.empty() ? a : setOf(std::move(both));
}

OriginFlow::OriginFlow(Trace& trace, OriginTable& table, ScopeId scope, const OriginFlow* before,
                       const std::unordered_map<NodeId, uint32_t>* users)
    : trace_(trace), table_(table), before_(before), users_(users), passes_(trace.passes(scope)) {
  if (NodeId root = before_ && users_ && scope ? trace.scope(scope).root : kNoNode)
    for (NodeId id : trace.nodes().toposort(root))
      if (auto it = users_->find(id); it != users_->end() && it->second == 1)
        own_ = table_.unite(own_, before_->setOf(id));
  for (size_t k = 0; k < passes_.size(); ++k) nested_[passes_[k].parent].push_back(k);
  if (scope) meet(trace.scope(scope).root, 0);
  for (size_t k = 0; k < passes_.size(); ++k)
    if (passes_[k].parent == 0) run(passes_[k], 0);
}

OriginTable::Set OriginFlow::setOf(NodeId node) const {
  auto it = seen_.find(node);
  return it == seen_.end() ? 0 : it->second;
}

OriginTable::Set OriginFlow::inherited(NodeId node) const {
  if (!before_) return 0;
  OriginTable::Set set = before_->setOf(node);
  if (!own_ || !users_ || table_.members(own_).size() >= OriginTable::kMost) return set;
  auto it = users_->find(node);
  return it != users_->end() && it->second > 1 ? table_.within(set, own_) : set;
}

void OriginFlow::meet(NodeId root, OriginTable::Set set) {
  if (root == kNoNode || seen_.contains(root)) return;
  std::vector<NodeId> stack{root};
  while (!stack.empty()) {
    NodeId id = stack.back();
    stack.pop_back();
    auto [it, fresh] = seen_.try_emplace(id, 0);
    if (!fresh) continue;
    OriginTable::Set own = table_.direct(id);
    if (!own) own = inherited(id);
    it->second = own ? own : set;
    for (NodeId s : trace_.nodes().raw(id).src)
      if (!seen_.contains(s)) stack.push_back(s);
  }
}

bool OriginFlow::meetRebuilt(NodeId from, NodeId rebuilt) {
  auto alike = [&](NodeId a, NodeId b) {
    const RawNode &x = trace_.nodes().raw(a), &y = trace_.nodes().raw(b);
    return x.op == y.op && x.src.size() == y.src.size();
  };
  if (!alike(from, rebuilt)) return false;
  std::vector<std::pair<NodeId, NodeId>> stack{{from, rebuilt}};
  std::unordered_set<NodeId> met;
  while (!stack.empty()) {
    auto [a, b] = stack.back();
    stack.pop_back();
    if (a == b || seen_.contains(b) || !met.insert(b).second) continue;
    auto before = trace_.nodes().raw(a).src, after = trace_.nodes().raw(b).src;
    for (size_t k = 0; k < after.size(); ++k)
      if (alike(before[k], after[k])) stack.emplace_back(before[k], after[k]);
    predecessor_.try_emplace(b, a);
    if (OriginTable::Set set = setOf(a)) seen_[b] = set;
  }
  return true;
}

void OriginFlow::meetResult(const StepInfo& step, OriginTable::Set set) {
  if (step.after == kNoNode || seen_.contains(step.after)) return;
  meetRebuilt(step.before, step.after); // a rule may replace leaves of a whole graph
  std::unordered_set<NodeId> met;
  auto below = [&](NodeId root, size_t most, auto&& wanted) {
    std::vector<NodeId> out;
    if (met.insert(root).second) out.push_back(root);
    for (size_t k = 0; k < out.size() && out.size() < most; ++k)
      for (NodeId s : trace_.nodes().raw(out[k]).src)
        if (wanted(s) && met.insert(s).second) out.push_back(s);
    return out;
  };
  std::vector<NodeId> made = below(step.after, 256, [&](NodeId id) { return !seen_.contains(id); });
  std::vector<NodeId> before = below(step.before, 64, [](NodeId) { return true; });
  // An operation that occurs as often in the rewritten part as in the new nodes counts as the same operation,
  // moved or rebuilt.
  struct Matched {
    size_t made = 0, before = 0;
    OriginTable::Set set = 0;
  };
  std::unordered_map<uint8_t, Matched> byOp;
  for (NodeId id : made) ++byOp[trace_.nodes().raw(id).op].made;
  for (NodeId id : before) {
    Matched& m = byOp[trace_.nodes().raw(id).op];
    ++m.before;
    m.set = table_.unite(m.set, setOf(id));
  }
  for (NodeId id : made) {
    const Matched& m = byOp[trace_.nodes().raw(id).op];
    OriginTable::Set own = table_.direct(id);
    if (!own) own = inherited(id);
    if (!own && m.made == m.before && m.made <= 2 && trace_.nodes().op(id) != Op::CONST) own = m.set;
    seen_[id] = own ? own : set;
  }
  for (NodeId id : made)
    for (NodeId s : trace_.nodes().raw(id).src) meet(s, set);
}

void OriginFlow::run(const PassInfo& pass, OriginTable::Set inherited) {
  if (pass.root == kNoNode) return;
  if (pass.parent == 0 && lastEnd_ != kNoNode) meetRebuilt(lastEnd_, pass.root); // changed between two passes
  meet(pass.root, inherited);
  Cursor cursor(trace_, pass.id);
  auto images = cursor.images();
  std::unordered_map<NodeId, NodeId> fate(images.begin(), images.end());
  std::unordered_map<NodeId, OriginTable::Set> ofFate; ///< origins of all nodes with one image
  auto gather = [&] {
    for (auto [node, image] : images)
      if (OriginTable::Set set = setOf(node)) {
        OriginTable::Set& sum = ofFate[image];
        sum = table_.unite(sum, set);
      }
  };
  gather();
  std::unordered_map<NodeId, std::vector<NodeId>> begunAs; ///< nodes of the initial graph, by image
  for (NodeId id : trace_.nodes().toposort(pass.root))
    if (auto it = fate.find(id); it != fate.end()) begunAs[it->second].push_back(id);
  auto nested = nested_.find(pass.id);
  size_t next = 0;
  for (int64_t k = 1; k <= cursor.steps(); ++k) {
    const StepInfo& step = cursor.step(k);
    if (auto it = fate.find(step.before); it != fate.end() && !seen_.contains(step.before))
      if (auto from = begunAs.find(it->second); from != begunAs.end())
        for (NodeId id : from->second)
          if (meetRebuilt(id, step.before)) break;
    OriginTable::Set set = setOf(step.before);
    if (!set)
      if (auto it = fate.find(step.before); it != fate.end())
        if (auto sum = ofFate.find(it->second); sum != ofFate.end()) set = sum->second;
    meet(step.before, set);
    if (nested != nested_.end())
      for (; next < nested->second.size() && passes_[nested->second[next]].parentSteps < k; ++next) {
        const PassInfo& inner = passes_[nested->second[next]];
        if (inner.root != kNoNode) meetRebuilt(step.before, inner.root);
        run(inner, set);
      }
    meetResult(step, set);
  }
  if (nested != nested_.end())
    for (; next < nested->second.size(); ++next) run(passes_[nested->second[next]], 0);

  gather();
  std::unordered_map<NodeId, std::vector<NodeId>> byFate;
  std::unordered_map<NodeId, bool> madeByRule;
  for (int64_t k = 1; k <= cursor.steps(); ++k) madeByRule[cursor.step(k).after] = true;
  for (auto [node, image] : images) {
    if (image >= kFirstViewNode) continue;
    if (node != image) byFate[image].push_back(node);
    auto sum = ofFate.find(image);
    if (sum == ofFate.end() || cursor.fields(image).op == Op::CONST) continue;
    for (NodeId id : {node, image}) {
      if (id >= kFirstViewNode) continue;
      auto [it, fresh] = seen_.try_emplace(id, sum->second);
      if (!fresh && (id == image || !it->second)) it->second = table_.unite(it->second, sum->second);
    }
  }
  for (auto& [image, members] : byFate) {
    std::ranges::sort(members); // nodes of the graph that the pass began with come first
    for (NodeId made : members) {
      if (made >= kFirstViewNode || madeByRule.contains(made) || predecessor_.contains(made)) continue;
      for (NodeId from : members)
        if (from < made && cursor.raw(from).op == cursor.raw(made).op &&
            cursor.raw(from).src.size() == cursor.raw(made).src.size()) {
          predecessor_[made] = from;
          break;
        }
    }
    if (madeByRule.contains(image) || predecessor_.contains(image)) continue;
    for (NodeId from : members)
      if (from < image && cursor.raw(from).op == cursor.raw(image).op) predecessor_[image] = from;
  }
  if (pass.endRoot) meet(pass.endRoot, 0);
  if (pass.parent == 0) lastEnd_ = pass.endRoot;
}

} // namespace uopscope
