// The state of a node after k steps follows the three stages of the driver (engine/rewrite/driver.h): first
// the rewrites on the way down that steps 1 to k contain, then each source replaced by its state, then the
// rewrite on the way up. A memo keeps every answer with the range of steps in which none of its decisions
// would differ, so a neighbouring step recomputes only the users of the node it rewrote.
#include "replay/read/cursor.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {
constexpr int64_t kNever = INT64_MAX;
uint32_t hashOf(const RawNode& like, std::span<const NodeId> sources) {
  uint64_t h = like.op | uint64_t{like.dtype} << 8 | uint64_t{like.arg} << 32;
  h = (h ^ like.tag) * 0x9E3779B97F4A7C15ull;
  for (NodeId s : sources) h = (h ^ (h >> 29) ^ s) * 0xbf58476d1ce4e5b9ull;
  return static_cast<uint32_t>(h ^ h >> 32);
}
} // namespace

struct Cursor::Frame {
  NodeId node;    ///< the node whose state is wanted
  NodeId current; ///< the node it has become so far
  int64_t low = 0, high = kNever;
  uint32_t nextSrc = 0;
  enum class Stage : uint8_t { Enter, Sources, Follow } stage = Stage::Enter;
};

Cursor::Cursor(Trace& trace, PassId pass) : trace_(trace), info_(trace.pass(pass)) {
  if (info_.root == kNoNode)
    throw Error(
        ErrorKind::File,
        fmt::format("{}: pass \"{}\" has no graph; it was recorded with tier \"{}\", record with --tier full",
                    trace.path(), info_.name, trace.meta("tier")));
  addGraph(info_.root);
  addSteps(trace.steps(pass));
  if (info_.endRoot) addGraph(info_.endRoot);
  for (NodeId gate : trace.gates(pass)) gates_.insert(gate);
}

void Cursor::refresh() {
  info_ = trace_.pass(info_.id);
  addSteps(trace_.steps(info_.id, steps() + 1));
  if (info_.endRoot) addGraph(info_.endRoot);
  for (NodeId gate : trace_.gates(info_.id)) gates_.insert(gate);
  memo_.clear();
  graphK_ = -1;
}

void Cursor::addSteps(const std::vector<StepInfo>& more) {
  for (const StepInfo& step : more) {
    int64_t k = steps() + 1;
    bool goesOn = step.kind == StepKind::WayDown && !steps_.empty() &&
                  steps_.back().kind == StepKind::WayDown && steps_.back().after == step.before;
    continues_.push_back(goesOn);
    addGraph(step.before);
    if (step.after) addGraph(step.after);
    if (step.kind != StepKind::RewriteError && step.after && step.after != step.before) {
      if (step.kind == StepKind::WayUp)
        up_.tryEmplace(step.before, k);
      else if (!goesOn)
        down_.tryEmplace(step.before, k);
    }
    steps_.push_back(step);
  }
}

const StepInfo& Cursor::step(int64_t k) const {
  if (k < 1 || k > steps())
    throw Error(ErrorKind::Index,
                fmt::format("pass \"{}\" has steps 1 to {}, there is no step {}", info_.name, steps(), k));
  return steps_[static_cast<size_t>(k - 1)];
}

int64_t Cursor::clamp(int64_t k) const {
  if (k < 0 || k > steps())
    throw Error(ErrorKind::Index,
                fmt::format("pass \"{}\" has {} steps, there is no step {}", info_.name, steps(), k));
  return k;
}

const RawNode& Cursor::raw(NodeId id) {
  if (id < kFirstViewNode) return trace_.nodes().raw(id);
  size_t at = id - kFirstViewNode;
  if (at >= view_.size()) throw Error(ErrorKind::Key, fmt::format("node {} is not of this pass", id));
  return view_[at].raw;
}

NodeFields Cursor::fields(NodeId id) {
  return trace_.nodes().spellOut(id, raw(id));
}

void Cursor::addGraph(NodeId root) {
  auto isIndexed = [&](NodeId id) { return id < indexed_.size() && indexed_[id]; };
  if (isIndexed(root)) return;
  std::vector<NodeId> stack{root};
  while (!stack.empty()) {
    NodeId id = stack.back();
    stack.pop_back();
    if (isIndexed(id)) continue;
    if (id >= indexed_.size()) indexed_.resize(id + id / 4 + 64);
    indexed_[id] = true;
    insert(id);
    for (NodeId s : raw(id).src)
      if (!isIndexed(s)) stack.push_back(s);
  }
}

void Cursor::insert(NodeId id) {
  if (index_.used * 2 >= index_.slots.size()) {
    std::vector<Index::Slot> old(index_.slots.size() * 2);
    old.swap(index_.slots);
    index_.used = 0;
    for (const Index::Slot& o : old)
      if (o.node) index_.put(o);
  }
  const RawNode& r = raw(id);
  index_.put({hashOf(r, r.src), id});
}

NodeId Cursor::find(const RawNode& like, std::span<const NodeId> sources) {
  const size_t mask = index_.slots.size() - 1;
  const uint32_t hash = hashOf(like, sources);
  for (size_t at = hash & mask; index_.slots[at].node; at = (at + 1) & mask) {
    if (index_.slots[at].hash != hash) continue;
    const RawNode& r = raw(index_.slots[at].node);
    if (r.op == like.op && r.dtype == like.dtype && r.arg == like.arg && r.tag == like.tag &&
        std::ranges::equal(r.src, sources))
      return index_.slots[at].node;
  }
  return kNoNode;
}

NodeId Cursor::rebuild(NodeId node, std::span<const NodeId> sources) {
  RawNode like = raw(node);
  if (NodeId known = find(like, sources)) return known;
  if (view_.size() >= kFirstViewNode - 1) throw Error(ErrorKind::Runtime, "too many nodes between steps");
  ViewNode made;
  made.sources = std::make_unique_for_overwrite<NodeId[]>(sources.size());
  std::copy(sources.begin(), sources.end(), made.sources.get());
  made.raw = like;
  made.raw.src = {made.sources.get(), sources.size()};
  NodeId id = kFirstViewNode + static_cast<NodeId>(view_.size());
  view_.push_back(std::move(made));
  insert(id);
  return id;
}

void Cursor::enter(Frame& frame, int64_t k) {
  // Applies the rewrites on the way down that happened by step k.
  if (const int64_t* first = down_.find(frame.node)) {
    int64_t next = *first;
    for (; next <= k; ++next) {
      frame.current = steps_[static_cast<size_t>(next - 1)].after;
      frame.low = std::max(frame.low, next);
      if (next >= steps() || !continues_[static_cast<size_t>(next)]) break;
    }
    if (next > k) frame.high = std::min(frame.high, next);
  }
  frame.stage = Frame::Stage::Sources;
}

NodeId Cursor::state(NodeId root, int64_t k) {
  auto known = [&](NodeId id) -> const Memo* {
    const Memo* m = memo_.find(id);
    return m && !m->busy && m->low <= k && k < m->high ? m : nullptr;
  };
  // A node that is met again while its state is being computed stands for itself. Endless rewriting that was
  // cut off, or a damaged file, leads here.
  auto busy = [&](NodeId id) {
    const Memo* m = memo_.find(id);
    return m && m->busy;
  };
  if (const Memo* m = known(root)) return m->state;
  std::vector<Frame> stack;
  auto push = [&](NodeId id) {
    memo_[id].busy = true;
    stack.push_back({id, id});
  };
  auto finish = [&](NodeId state) {
    const Frame& f = stack.back();
    memo_[f.node] = {state, f.low, f.high, false};
    stack.pop_back();
  };
  push(root);
  try {
    while (!stack.empty()) {
      if (stack.back().stage == Frame::Stage::Enter) {
        enter(stack.back(), k);
        if (gates_.contains(stack.back().current)) {
          finish(stack.back().current);
          continue;
        }
      }
      if (stack.back().stage == Frame::Stage::Follow) {
        Frame& f = stack.back();
        const Memo* m = known(f.current);
        if (!m) { // its state is being computed further down the stack
          f.low = k;
          f.high = k + 1;
          finish(f.current);
          continue;
        }
        f.low = std::max(f.low, m->low);
        f.high = std::min(f.high, m->high);
        finish(m->state);
        continue;
      }
      auto src = raw(stack.back().current).src;
      bool waits = false;
      while (stack.back().nextSrc < src.size()) {
        NodeId s = src[stack.back().nextSrc++];
        if (known(s) || busy(s)) continue;
        push(s);
        waits = true;
        break;
      }
      if (waits) continue;
      Frame& f = stack.back();
      sources_.clear();
      bool changed = false;
      for (NodeId s : src) {
        NodeId now = s;
        if (const Memo* m = known(s)) {
          now = m->state;
          f.low = std::max(f.low, m->low);
          f.high = std::min(f.high, m->high);
        } else {
          f.low = k;
          f.high = k + 1;
        }
        sources_.push_back(now);
        changed |= now != s;
      }
      NodeId next = kNoNode;
      if (changed) {
        next = rebuild(f.current, sources_);
      } else if (const int64_t* at = up_.find(f.current)) {
        if (*at <= k) {
          next = steps_[static_cast<size_t>(*at - 1)].after;
          f.low = std::max(f.low, *at);
        } else {
          f.high = std::min(f.high, *at);
        }
      }
      if (!next) {
        finish(f.current);
        continue;
      }
      f.current = next;
      f.stage = Frame::Stage::Follow;
      if (!known(next) && !busy(next)) push(next);
    }
  } catch (...) {
    memo_.clear();
    throw;
  }
  return memo_[root].state;
}

NodeId Cursor::rootAt(int64_t k) {
  return state(info_.root, clamp(k));
}
NodeId Cursor::imageAt(NodeId node, int64_t k) {
  return state(node, clamp(k));
}

std::vector<std::pair<NodeId, NodeId>> Cursor::images() {
  rootAt(steps());
  std::vector<std::pair<NodeId, NodeId>> out;
  memo_.forEach([&](NodeId node, const Memo& memo) {
    if (!memo.busy && memo.low <= steps() && steps() < memo.high) out.emplace_back(node, memo.state);
  });
  std::ranges::sort(out);
  return out;
}

Cursor::Shown Cursor::shown(int64_t k) {
  step(k);
  NodeId node = chainStart(k);
  return {state(node, k - 1), state(node, k)};
}

/// The first node of the chain of rewrites on the way down that step k belongs to.
NodeId Cursor::chainStart(int64_t k) const {
  auto at = static_cast<size_t>(k - 1);
  while (continues_[at]) --at;
  return steps_[at].before;
}

const std::vector<NodeId>& Cursor::graphAt(int64_t k) {
  if (graphK_ == clamp(k)) return graph_;
  NodeId root = rootAt(k);
  graph_.clear();
  graphK_ = -1;
  NodeMap<bool> seen;
  std::vector<std::pair<NodeId, uint32_t>> stack{{root, 0}};
  seen[root] = true;
  while (!stack.empty()) {
    auto& [id, next] = stack.back();
    auto src = raw(id).src;
    if (next == src.size()) {
      graph_.push_back(id);
      stack.pop_back();
      continue;
    }
    NodeId s = src[next++];
    if (seen.tryEmplace(s, true)) stack.push_back({s, 0});
  }
  graphK_ = k;
  return graph_;
}

GraphDiff Cursor::diff(int64_t from, int64_t to) {
  clamp(from);
  clamp(to);
  if (from > to) {
    GraphDiff d = diff(to, from);
    std::swap(d.beforeRoot, d.afterRoot);
    std::swap(d.before, d.after);
    std::swap(d.added, d.removed);
    for (auto& c : d.changed) std::swap(c.before, c.after);
    return d;
  }
  GraphDiff d;
  d.beforeRoot = rootAt(from);
  d.before = graphAt(from);
  // A node rewritten on the way down may be shown with rewritten sources. The steps tell its image.
  std::vector<NodeId> shownBefore;
  for (int64_t k = from + 1; k <= to; ++k) shownBefore.push_back(state(chainStart(k), from));
  d.afterRoot = rootAt(to);
  d.after = graphAt(to);
  NodeMap<NodeId> rewritten;
  for (int64_t k = from + 1; k <= to; ++k)
    rewritten.tryEmplace(shownBefore[static_cast<size_t>(k - from - 1)], state(chainStart(k), to));
  enum : uint8_t { kBefore = 1, kAfter = 2, kImage = 4 };
  NodeMap<uint8_t> in;
  for (NodeId id : d.before) in[id] = kBefore;
  for (NodeId id : d.after) in[id] |= kAfter;
  for (NodeId id : d.before) {
    if (*in.find(id) & kAfter) {
      ++d.kept;
      continue;
    }
    const NodeId* byRule = rewritten.find(id);
    const NodeId image = byRule ? *byRule : state(id, to);
    uint8_t* there = in.find(image);
    if (image == id || !there || *there & kBefore) {
      d.removed.push_back(id);
      continue;
    }
    d.changed.push_back({id, image, byRule != nullptr});
    *there |= kImage;
  }
  for (NodeId id : d.after)
    if (*in.find(id) == kAfter) d.added.push_back(id);
  return d;
}

} // namespace uopscope
