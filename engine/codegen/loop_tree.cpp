// Finds the loops of a kernel, nests them, and orders the nodes of each block.
#include "engine/codegen/loop_tree.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

std::string kernelName(UOp sink) {
  return sink.arg().kind() == ArgKind::Kernel ? sink.arg().as<KernelInfo>().name : "unnamed";
}

namespace {
/// Whether a CONTRACT makes lanes of this range; the range is then no loop and needs no END.
bool becomesLanes(UOp sink, UOp range) {
  if (!sink.below().has(Op::CONTRACT)) return false;
  const auto& ids = range.arg().as<RangeArg>().ids;
  for (UOp u : sink.toposort()) {
    if (!u.is(Op::CONTRACT) || u.arg().kind() != ArgKind::Ints) continue;
    const auto& axes = u.arg().ints(); // id, size, id, size ...
    for (size_t i = 0; i + 1 < axes.size(); i += 2)
      if (ids.size() == 1 && ids[0] == axes[i]) return true;
  }
  return false;
}
} // namespace

bool isProgram(UOp sink) {
  return sink.below().intersects({Op::STORE, Op::END});
}

void checkRangesClosed(UOp sink) {
  if (!isProgram(sink)) return;
  std::string open;
  for (UOp r : sink.ranges()) {
    // Threads that share a reduction are no loop: the range becomes a hardware index.
    if (r.axisType() == AxisType::GroupReduce || becomesLanes(sink, r)) continue;
    open += fmt::format("{}{} (0 to {}, {})", open.empty() ? "" : ", ", r.render(), r.vmax(),
                        axisTypeName(r.axisType()));
  }
  if (!open.empty())
    throw Error(ErrorKind::Spec,
                fmt::format("kernel '{}' leaves its range {} open: close it with .end(range) before .sink()",
                            kernelName(sink), open));
}

LoopTree::LoopTree(UOp sink, Wanted wanted) : sink_(sink), kernel_(kernelName(sink)) {
  checkRangesClosed(sink);
  std::vector<UOp> nodes = sink.toposort();
  findLoops(nodes);
  auto hasSiblings = [](const Loop& l) { return l.children.size() > 1; };
  if (wanted == Wanted::Successions && std::none_of(loops_.begin(), loops_.end(), hasSiblings)) return;
  connect(nodes);
  orderMemory(nodes);
  emit(0);
}

void LoopTree::findLoops(const std::vector<UOp>& nodes) {
  loops_.emplace_back();
  loops_[0].end = sink_;
  loops_[0].depth = 0;
  for (UOp u : nodes) {
    if (!u.is(Op::END)) continue;
    if (u.srcCount() != 2 || !u.src(1).is(Op::RANGE))
      throw Error(ErrorKind::Spec,
                  fmt::format("kernel '{}': END must close one RANGE here, it has {} sources", kernel_,
                              u.srcCount()));
    if (!loopOfRange_.emplace(u.src(1), loops_.size()).second)
      throw Error(ErrorKind::Spec,
                  fmt::format("kernel '{}': range {} is closed twice", kernel_, u.src(1).render()));
    Loop loop;
    loop.range = u.src(1);
    loop.end = u;
    loops_.push_back(std::move(loop));
  }
  for (UOp u : nodes)
    if (u.is(Op::RANGE) && !loopOfRange_.count(u))
      throw Error(ErrorKind::Spec,
                  fmt::format("kernel '{}': range {} is never closed by an END", kernel_, u.render()));
  for (size_t i = 1; i < loops_.size(); ++i) depthOf(i);
  for (size_t i = 1; i < loops_.size(); ++i)
    loops_[static_cast<size_t>(loops_[i].parent)].children.push_back(static_cast<int>(i));
}

int LoopTree::depthOf(size_t loop) {
  constexpr int kBusy = -2;
  Loop& l = loops_[loop];
  if (l.depth >= 0) return l.depth;
  if (l.depth == kBusy)
    throw Error(ErrorKind::Spec,
                fmt::format("kernel '{}': range {} would have to enclose itself", kernel_, l.range.render()));
  l.depth = kBusy;
  for (UOp r : l.end.ranges()) depthOf(loopOfRange_.at(r));
  l.parent = innermost(l.end.ranges());
  return l.depth = loops_[static_cast<size_t>(l.parent)].depth + 1;
}

int LoopTree::innermost(const std::vector<UOp>& open) const {
  size_t best = 0;
  for (UOp r : open) {
    size_t i = loopOfRange_.at(r);
    if (loops_[i].depth > loops_[best].depth) best = i;
  }
  // All open loops must enclose the innermost one.
  for (UOp r : open) {
    size_t i = loopOfRange_.at(r), at = best;
    while (at && at != i) at = static_cast<size_t>(loops_[at].parent);
    // A loop whose parent is still unknown is being placed by the caller, which has checked it already.
    if (at != i)
      throw Error(
          ErrorKind::Spec,
          fmt::format(
              "kernel '{}': a value needs the ranges {} and {} at once, but neither loop is inside the other",
              kernel_, r.render(), loops_[best].range.render()));
  }
  return static_cast<int>(best);
}

size_t LoopTree::unitIn(size_t loop, size_t scope, UOp u) {
  if (scope == loop) return *unitOfNode_.find(u.slot());
  while (static_cast<size_t>(loops_[scope].parent) != loop) scope = static_cast<size_t>(loops_[scope].parent);
  return scope;
}

void LoopTree::addDependency(UOp user, UOp source, bool soft) {
  const size_t userScope = *scope_.find(user.slot()), sourceScope = *scope_.find(source.slot());
  size_t a = userScope, b = sourceScope;
  auto up = [&](size_t l) { return static_cast<size_t>(loops_[l].parent); };
  while (loops_[a].depth > loops_[b].depth) a = up(a);
  while (loops_[b].depth > loops_[a].depth) b = up(b);
  while (a != b) {
    a = up(a);
    b = up(b);
  }
  size_t from = unitIn(a, userScope, user);
  auto to = static_cast<uint32_t>(unitIn(a, sourceScope, source));
  if (from == to) return;
  uint32_t& first = soft ? units_[from].comesAfter : units_[from].needs;
  uint32_t& last = soft ? units_[from].lastAfter : units_[from].lastNeeds;
  if (last && edges_[last].to == to) return;
  auto made = static_cast<uint32_t>(edges_.size());
  edges_.push_back({to, 0});
  (last ? edges_[last].next : first) = made;
  last = made;
}

void LoopTree::connect(const std::vector<UOp>& nodes) {
  units_.resize(loops_.size() + nodes.size());
  nodeOfUnit_.resize(units_.size());
  edges_.reserve(2 * nodes.size());
  size_t next = loops_.size();
  const std::vector<UOp>* open = nullptr; // those of the previous node: neighbours mostly share their ranges
  size_t scopeOfOpen = 0;
  for (UOp u : nodes) {
    size_t scope = 0;
    if (u.is(Op::END) || u.is(Op::RANGE)) {
      scope = loopOfRange_.at(u.is(Op::END) ? u.src(1) : u);
    } else {
      if (&u.ranges() != open) {
        open = &u.ranges();
        scopeOfOpen = static_cast<size_t>(innermost(*open));
      }
      scope = scopeOfOpen;
    }
    scope_.set(u.slot(), static_cast<uint32_t>(scope));
    unitOfNode_.set(u.slot(), static_cast<uint32_t>(next));
    nodeOfUnit_[next++] = u;
    loops_[scope].members.push_back(u);
    for (UOp s : u.src()) addDependency(u, s, false);
  }
}

void LoopTree::orderMemory(const std::vector<UOp>& nodes) {
  UOpMap<std::vector<UOp>> loads;
  for (UOp u : nodes)
    if (u.is(Op::LOAD)) loads[u.bufferOf()].push_back(u);
  for (UOp u : nodes) {
    if (!u.is(Op::STORE)) continue;
    UOp buffer = u.src(0).bufferOf();
    if (!buffer.is(Op::DEFINE_GLOBAL)) continue; // AFTER orders the accesses of any other memory
    auto hit = loads.find(buffer);
    if (hit == loads.end()) continue;
    for (UOp l : hit->second)
      if (!l.dependsOn(u)) addDependency(u, l, true);
  }
}

void LoopTree::emit(size_t loop) {
  Loop& l = loops_[loop];
  constexpr uint8_t kOpen = 1, kDone = 2;
  if (loop) {
    order_.push_back(l.range);
    units_[*unitOfNode_.find(l.range.slot())].state = kDone;
  } else {
    // The definitions come first, as readers of a function expect, in an order that does not depend on their
    // use.
    auto rank = [](UOp u) {
      constexpr Op kFirst[] = {Op::DEFINE_GLOBAL, Op::DEFINE_VAR, Op::DEFINE_LOCAL, Op::DEFINE_REG};
      return std::find(std::begin(kFirst), std::end(kFirst), u.op()) - std::begin(kFirst);
    };
    std::vector<UOp> head;
    for (UOp u : l.members)
      if (rank(u) < 4) head.push_back(u);
    std::stable_sort(head.begin(), head.end(), [&](UOp a, UOp b) {
      if (rank(a) != rank(b)) return rank(a) < rank(b);
      if (a.is(Op::DEFINE_VAR)) return a.arg().as<VarArg>().name < b.arg().as<VarArg>().name;
      return a.arg().i() < b.arg().i();
    });
    for (UOp u : head) {
      order_.push_back(u);
      units_[*unitOfNode_.find(u.slot())].state = kDone;
    }
  }

  UOp lastLoopEnd;
  auto place = [&](size_t unit) {
    if (unit < loops_.size()) {
      emit(unit);
      if (lastLoopEnd) successions_.emplace_back(loops_[unit].range, lastLoopEnd);
      lastLoopEnd = loops_[unit].end;
    } else {
      order_.push_back(nodeOfUnit_[unit]);
    }
  };
  struct Frame {
    size_t unit;
    uint32_t edge; ///< the edge to follow next
    bool hard;     ///< edges to needed nodes come first, then those that order alone
  };
  std::vector<Frame> stack;
  auto visit = [&](size_t start) {
    if (units_[start].state) return;
    stack.push_back({start, units_[start].needs, true});
    units_[start].state = kOpen;
    while (!stack.empty()) {
      Frame& top = stack.back();
      Unit& unit = units_[top.unit];
      if (!top.edge && top.hard) {
        top.edge = unit.comesAfter;
        top.hard = false;
      }
      if (top.edge) {
        const bool hard = top.hard;
        const size_t to = edges_[top.edge].to;
        top.edge = edges_[top.edge].next;
        if (units_[to].state == kDone || (units_[to].state == kOpen && !hard)) continue;
        if (units_[to].state == kOpen) {
          UOp culprit = to < loops_.size() ? loops_[to].range : nodeOfUnit_[to];
          throw Error(
              ErrorKind::Spec,
              fmt::format("kernel '{}': the loop over {} needs a value that is computed from its own result",
                          kernel_, culprit.render()));
        }
        units_[to].state = kOpen;
        stack.push_back({to, units_[to].needs, true});
      } else {
        unit.state = kDone;
        size_t done = top.unit;
        stack.pop_back();
        place(done);
      }
    }
  };
  size_t last = *unitOfNode_.find(l.end.slot());
  for (uint32_t e = units_[last].needs; e; e = edges_[e].next) visit(edges_[e].to);
  // Members that the end of the block does not reach are placed too: a load may serve only to order its
  // users.
  for (UOp u : l.members)
    if (u != l.end) visit(*unitOfNode_.find(u.slot()));
  for (int child : l.children) visit(static_cast<size_t>(child));
  order_.push_back(l.end);
  units_[last].state = kDone;
}

} // namespace uopscope
