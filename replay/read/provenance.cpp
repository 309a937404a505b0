// Walks over the scope's steps once, in order of their ids. A node belongs to the first event whose graph
// contains it.
#include "replay/read/provenance.h"

#include "replay/read/kernel_lines.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace uopscope {

struct Provenance::Shared {
  std::unique_ptr<OriginTable> table;
  std::map<ScopeId, std::unique_ptr<Provenance>> schedules;
};

Provenance::Provenance(Trace& trace, ScopeId scope) : Provenance(trace, scope, std::make_shared<Shared>()) {}
Provenance::~Provenance() = default;

Provenance::Provenance(Trace& trace, ScopeId scope, std::shared_ptr<Shared> shared)
    : trace_(trace), scope_(scope), shared_(std::move(shared)) {
  struct Event {
    StepId at;
    int order; ///< the root of a pass comes before its first step
    const PassInfo* pass;
    const StepInfo* step;
  };
  std::vector<Event> events;
  std::vector<std::vector<StepInfo>> kept;
  std::vector<PassInfo> passes = trace.passes(scope);
  for (const PassInfo& pass : passes) {
    kept.push_back(trace.steps(pass.id));
    events.push_back({pass.firstStep, -1 - pass.depth, &pass, nullptr});
  }
  for (size_t k = 0; k < kept.size(); ++k)
    for (const StepInfo& step : kept[k]) events.push_back({step.id, 0, &passes[k], &step});
  for (const PassInfo& pass : passes)
    if (pass.endRoot && pass.lastStep != INT64_MAX)
      events.push_back({pass.lastStep, 1 + static_cast<int>(pass.id % 1000000), &pass, nullptr});
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tie(a.at, a.order) < std::tie(b.at, b.order);
  });
  if (scope) note(trace.scope(scope).root, {kNoNode, Maker::Root, 0, 0, 0, 0, kNoNode});
  for (const Event& e : events) {
    if (!e.step) {
      if (e.order < 0)
        note(e.pass->root, {kNoNode, e.pass->id == passes.front().id ? Maker::Root : Maker::Rebuilt,
                            e.pass->id, 0, 0, 0, kNoNode});
      else
        note(e.pass->endRoot, {kNoNode, Maker::Rebuilt, e.pass->id, e.pass->steps, 0, 0, kNoNode});
      continue;
    }
    const StepInfo& s = *e.step;
    note(s.before, {kNoNode, Maker::Rebuilt, e.pass->id, s.k, s.id, 0, kNoNode});
    ProvenanceLink link{s.after, Maker::Rule, e.pass->id, s.k, s.id, s.rule, s.before};
    if (s.after && s.kind != StepKind::RewriteError) {
      note(s.after, link);
      rewritten_[s.before].push_back(link);
    }
  }
}

void Provenance::note(NodeId root, const ProvenanceLink& link) {
  if (root == kNoNode || makers_.contains(root)) return;
  std::vector<NodeId> stack{root};
  while (!stack.empty()) {
    NodeId id = stack.back();
    stack.pop_back();
    auto [it, fresh] = makers_.emplace(id, link);
    if (!fresh) continue;
    it->second.node = id;
    for (NodeId s : trace_.nodes().raw(id).src)
      if (!makers_.contains(s)) stack.push_back(s);
  }
}

ProvenanceLink Provenance::makerHere(NodeId node) {
  auto it = makers_.find(node);
  if (it == makers_.end()) return {node, Maker::Unknown, 0, 0, 0, 0, kNoNode};
  ProvenanceLink link = it->second;
  if (link.maker == Maker::Rebuilt) link.from = flow().predecessor(node);
  return link;
}

const OriginFlow& Provenance::flow() {
  if (flow_) return *flow_;
  if (!shared_->table) shared_->table = std::make_unique<OriginTable>(trace_);
  Provenance* schedule = scope_ ? scheduleOf(trace_.scope(scope_).root) : nullptr;
  flow_ =
      std::make_unique<OriginFlow>(trace_, *shared_->table, scope_, schedule ? &schedule->flow() : nullptr,
                                   schedule ? &schedule->kernelsOfNodes() : nullptr);
  return *flow_;
}

const std::unordered_map<NodeId, uint32_t>& Provenance::kernelsOfNodes() {
  if (!users_.empty()) return users_;
  std::unordered_set<NodeId> roots;
  for (const ScopeInfo& s : trace_.scopes())
    if (s.kind == ScopeKind::Kernel && s.id > scope_ && makers_.contains(s.root) &&
        roots.insert(s.root).second)
      for (NodeId id : trace_.nodes().toposort(s.root)) ++users_[id];
  return users_;
}

Provenance* Provenance::scheduleOf(NodeId node) {
  if (!scope_ || trace_.scope(scope_).kind != ScopeKind::Kernel) return nullptr;
  std::vector<ScopeId> earlier;
  for (const ScopeInfo& s : trace_.scopes())
    if (s.kind == ScopeKind::Schedule && s.id < scope_) earlier.push_back(s.id);
  for (size_t k = earlier.size(); k-- > 0;) {
    auto& schedule = shared_->schedules[earlier[k]];
    if (!schedule) // this object must not own its owner
      schedule.reset(new Provenance(trace_, earlier[k], {std::shared_ptr<void>(), shared_.get()}));
    if (schedule->makers_.contains(node)) return schedule.get();
  }
  return nullptr;
}

ProvenanceLink Provenance::maker(NodeId node) {
  ProvenanceLink link = makerHere(node);
  if (link.maker == Maker::Root || link.maker == Maker::Unknown)
    if (Provenance* schedule = scheduleOf(node)) return schedule->makerHere(node);
  return link;
}

std::vector<ProvenanceLink> Provenance::chain(NodeId node) {
  std::vector<ProvenanceLink> out;
  std::unordered_set<NodeId> seen;
  while (node != kNoNode && seen.insert(node).second) {
    out.push_back(maker(node));
    node = out.back().from;
  }
  return out;
}

std::vector<ProvenanceLink> Provenance::fate(NodeId node) {
  std::vector<ProvenanceLink> out;
  std::unordered_set<NodeId> seen;
  while (seen.insert(node).second) {
    auto it = rewritten_.find(node);
    if (it == rewritten_.end()) break;
    StepId after = out.empty() ? 0 : out.back().step;
    const ProvenanceLink* next = nullptr;
    for (const ProvenanceLink& l : it->second)
      if (!next && l.step > after) next = &l;
    if (!next) break;
    out.push_back(*next);
    node = next->node;
  }
  return out;
}

std::unique_ptr<Provenance> Provenance::of(ScopeId scope) const {
  return std::unique_ptr<Provenance>(new Provenance(trace_, scope, shared_));
}

std::vector<OriginInfo> Provenance::origins(NodeId node) {
  std::vector<OriginInfo> out;
  for (const ProvenanceLink& link : chain(node)) {
    for (uint32_t k : flow().of(link.node)) {
      const OriginInfo& o = shared_->table->all()[k];
      if (std::ranges::none_of(
              out, [&](const OriginInfo& known) { // one line serves the calls of many modules
                return known.operation == o.operation && known.script.file == o.script.file &&
                       known.script.line == o.script.line;
              }))
        out.push_back(o);
    }
    if (!out.empty()) break;
  }
  for (OriginInfo& o : out) o.node = node;
  // Without a known origin, the line that asked for the kernel or schedule is the answer.
  if (out.empty() && scope_ && trace_.scope(scope_).script.known())
    out.push_back({node, trace_.scope(scope_).name, trace_.scope(scope_).script});
  return out;
}

Provenance::Call Provenance::call(NodeId node) {
  Call out;
  for (const ProvenanceLink& link : chain(node)) {
    for (uint32_t k : flow().of(link.node)) {
      const OriginInfo& o = shared_->table->all()[k];
      const std::string& calls = shared_->table->calls(k);
      if (out.operation.empty() || (out.calls.empty() && !calls.empty()))
        out = {o.operation, calls, o.script};
    }
    if (!out.operation.empty()) break;
  }
  return out;
}

std::vector<uint32_t> Provenance::instructionsOf(const FileLine& script) {
  std::vector<uint32_t> out;
  std::vector<NodeId> program = trace_.program(scope_);
  for (uint32_t k = 0; k < program.size(); ++k) {
    if (isOperand(trace_.nodes(), program[k])) continue;
    for (uint32_t o : flow().of(program[k])) {
      const FileLine& at = shared_->table->all()[o].script;
      if (at.file == script.file && (script.line == 0 || at.line == script.line)) {
        out.push_back(k);
        break;
      }
    }
  }
  return out;
}

} // namespace uopscope
