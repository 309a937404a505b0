// Marks the versions of buffers that a schedule overwrites, then finds the live tensors that read them.
#include "engine/tensor/old_contents.h"

#include "engine/base/engine_session.h"
#include "engine/base/id_map.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/device.h"
#include "engine/runtime/run_capture.h"
#include "engine/tensor/graph.h"
#include "engine/tensor/placeholder.h"
#include "engine/tensor/state.h"
#include "engine/uop/visit.h"

#include <algorithm>

namespace uopscope {

namespace {

constexpr double kKernel = 65536; ///< a copy of so many elements costs as much as a launch

/// The innermost capture, and the time of its start: tensors made earlier do not belong to it.
struct Capturing {
  CaptureScope* innermost = nullptr;
  uint64_t start = 0;
};
Capturing& capturing() {
  return EngineSession::current().part<Capturing>();
}

UOp plain(UOp u) {
  while (u.in(group::kMovement) || u.in(group::kMarkers)) u = u.src(0);
  return u;
}

/// The version that an assignment to this target replaces: a BUFFER or an earlier ASSIGN. Null if the
/// assignment makes memory of its own.
UOp versionUnder(UOp target) {
  UOp u = plain(target);
  return u.is(Op::BUFFER) || (u.is(Op::ASSIGN) && versionUnder(u.src(0))) ? u : UOp();
}

bool keepsElements(UOp u) {
  return u.is(Op::RESHAPE) || u.in(group::kMarkers) || (u.is(Op::CONTIGUOUS) && !u.arg()) ||
         (u.is(Op::EXPAND) && u.shape() == u.src(0).shape());
}

/// The source that has the same elements in the same order, which the scheduler will not copy: what lies below
/// reshapes, and below permutations that undo each other.
UOp memoryBelow(UOp u) {
  while (true) {
    while (keepsElements(u)) u = u.src(0);
    if (!u.is(Op::PERMUTE)) return u;
    std::vector<int64_t> order = u.arg().ints();
    UOp below = u.src(0);
    for (;; below = below.src(0)) {
      if (below.is(Op::PERMUTE))
        for (int64_t& axis : order) axis = below.arg().ints()[static_cast<size_t>(axis)];
      else if (!keepsElements(below) || below.shape() != below.src(0).shape())
        break;
    }
    if (!std::is_sorted(order.begin(), order.end())) return u;
    u = below;
  }
}

double elements(UOp u) {
  double n = 1;
  for (const Sint& s : u.shape()) n *= static_cast<double>(s.vmax());
  return n;
}

UOp copyOf(UOp version) {
  return UOp::make(Op::CONTIGUOUS, version.dtype(), {version}, Arg::of("copy"));
}

class OldContents {
public:
  explicit OldContents(const std::vector<UOp>& roots) {
    std::vector<UOp> order = UOp::sink(roots).toposort();
    for (UOp u : order) {
      scheduled_.set(u.slot(), true);
      if (!u.is(Op::ASSIGN)) continue;
      UOp version = versionUnder(u.src(0));
      if (!version) continue;
      if (overwritten_.contains(version.slot()))
        forks_.push_back(u);
      else
        overwritten_.set(version.slot(), true);
    }
    for (UOp u : order)
      if (overwritten_.contains(u.slot()))
        reads_.set(u.slot(), true);
      else if (u.is(Op::ASSIGN)) // a reader of the last assignment reads the buffer later
        reads_.set(u.slot(), false);
    for (UOp root : roots) computed(root);
  }

  /// Assignments to a version that a previous assignment of the schedule replaces as well: two tensors share
  /// a buffer.
  const std::vector<UOp>& forks() const { return forks_; }
  bool isOverwritten(UOp u) { return overwritten_.contains(u.slot()); }
  bool isScheduled(UOp u) { return scheduled_.contains(u.slot()); }

  /// Whether a tensor of this node is a name of overwritten memory, or will be stored as one.
  bool isName(UOp root) {
    UOp u = plain(root);
    if (u.is(Op::MULTI))
      return std::any_of(u.src(0).src().begin(), u.src(0).src().end(),
                         [&](UOp part) { return isName(part); });
    if (u.is(Op::CONTIGUOUS) && !u.arg()) {
      return isOverwritten(memoryBelow(u.src(0)));
    }
    return isOverwritten(u);
  }

  /// Notes that the schedule stores this value: values computed from it no longer need old contents for it.
  void computed(UOp root) {
    if (UOp u = plain(root); !isName(u)) reads_.set(u.slot(), false);
  }

  /// Whether a value needs contents that the schedule overwrites and does not store elsewhere.
  bool reads(UOp root) {
    stack_.assign(1, {root, false});
    while (!stack_.empty()) {
      auto [u, ready] = stack_.back();
      stack_.pop_back();
      if (reads_.contains(u.slot())) continue;
      if (!ready) {
        stack_.push_back({u, true});
        for (UOp s : u.src())
          if (!reads_.contains(s.slot())) stack_.push_back({s, false});
        continue;
      }
      bool any = false;
      for (UOp s : u.src()) any = any || *reads_.find(s.slot());
      reads_.set(u.slot(), any);
    }
    return *reads_.find(root.slot());
  }

  /// The overwritten versions that a value needs.
  std::vector<UOp> readBy(UOp root) {
    std::vector<UOp> found;
    visitBelow(root, [&](UOp u) {
      if (!reads(u)) return Visit::Past;
      if (!isOverwritten(u)) return Visit::Below;
      found.push_back(u);
      return Visit::Past;
    });
    return found;
  }

private:
  IdMap<bool> reads_, scheduled_, overwritten_;
  std::vector<UOp> forks_;
  std::vector<std::pair<UOp, bool>> stack_;
};

/// Whether the value can be computed now: it depends on no variable or placeholder.
bool isComputable(UOp u) {
  if (!u.hasShape() || u.below().contains(Op::DEFINE_VAR) || dependsOnPlaceholder(u)) return false;
  const Shape& shape = u.shape();
  return std::all_of(shape.begin(), shape.end(), [](const Sint& n) { return n.isInt(); });
}

/// Whether storing a value costs less than copying the versions it reads.
bool isCheaperThanCopies(OldContents& old, UOp u) {
  double own = elements(u);
  if (own <= kKernel) return true;
  if (old.isScheduled(plain(u)) && plain(u).in({Op::REDUCE_AXIS, Op::CONTIGUOUS, Op::COPY})) return true;
  double copies = 0;
  for (UOp version : old.readBy(u)) copies += elements(version) + kKernel;
  return own <= copies;
}

/// Whether the value belongs to a loop of the script that has not run yet; it will read the contents of that
/// time.
bool isInLoop(UOp u) {
  if (!u.below().has(Op::RANGE)) return false;
  bool isKernel = u.below().intersects({Op::CUSTOM_KERNEL, Op::KERNEL});
  return !u.ranges().empty() || (u.below().has(Op::END) && !isKernel);
}

bool isOutsideOfCapture(const Tensor::State& s) {
  return RunCapture::active() && s.born <= capturing().start;
}

/// Stores a permuted view in the order of its own elements. It then shares the loops of its reader, as a
/// transposed gradient and its parameter do.
void storeInOwnOrder(Tensor::State& s) {
  bool inOrder = true;
  UOp u = s.uop;
  for (; u.in(group::kMovement); u = u.src(0)) {
    if (!u.in({Op::RESHAPE, Op::PERMUTE, Op::FLIP})) return; // its base is stored whole instead
    inOrder = inOrder && u.is(Op::RESHAPE);
  }
  if (!inOrder && s.isOnlyName()) s.become(graph::contiguous(s.uop));
}

/// The sources of a value's markers beyond the value: what its derivative reads, and not the value itself.
std::vector<UOp> readByDerivative(UOp u) {
  std::vector<UOp> found;
  for (; u.in(group::kMovement) || u.in(group::kMarkers); u = u.src(0))
    if (u.in(group::kMarkers)) found.insert(found.end(), u.src().begin() + 1, u.src().end());
  return found;
}
/// The value with these replacements in what its derivative reads.
UOp withDerivative(UOp u, const UOpMap<UOp>& replace) {
  if (!u.in(group::kMovement) && !u.in(group::kMarkers)) return u;
  std::vector<UOp> src(u.src().begin(), u.src().end());
  src[0] = withDerivative(src[0], replace);
  if (u.in(group::kMarkers))
    for (size_t i = 1; i < src.size(); ++i) src[i] = src[i].substitute(replace);
  return u.withSrc(src);
}

void computeOutside(const std::vector<Tensor>& tensors) {
  RunCapture::Pause pause;
  realizeTensors(tensors);
}

/// Handles a second assignment to one version. It belongs to a tensor that happens to share the buffer, and
/// gets memory of its own.
void separateForks(const OldContents& old) {
  UOpMap<UOp> apart;
  for (UOp u : old.forks()) {
    if (RunCapture::active() || elements(u) < elements(plain(u.src(0))))
      fail(ErrorKind::Unsupported,
           "two tensors that share memory are assigned together: make one of them with .clone()");
    apart[u] = UOp::make(Op::CONTIGUOUS, u.dtype(), {u.src(1)});
  }
  forEachTensor([&](Tensor::State& s) { s.become(UOp(s.uop).substitute(apart)); });
}

std::vector<std::shared_ptr<Tensor::State>> readersOf(OldContents& old, Tensor::State* inPlace) {
  std::unordered_set<const Tensor::State*> following;
  if (inPlace) inPlace->forEachName([&](Tensor::State& s) { following.insert(&s); });
  std::vector<std::shared_ptr<Tensor::State>> found;
  forEachTensor([&](Tensor::State& s) {
    UOp u = s.uop;
    if (following.contains(&s) || isInLoop(u)) return;
    if (UOp base = plain(u); base.is(Op::BUFFER) && !old.isOverwritten(base)) return;
    if (old.reads(u)) found.push_back(s.shared_from_this());
  });
  return found;
}

} // namespace

OldContentsKept keepOldContents(const std::vector<UOp>& roots, Tensor::State* inPlace) {
  bool assigns =
      std::any_of(roots.begin(), roots.end(), [](UOp u) { return u.below().contains(Op::ASSIGN); });
  if (!assigns) return {};
  PoolScope scope(tensorPool());
  OldContents old(roots);
  if (!old.forks().empty()) {
    separateForks(old);
    return {{}, true};
  }
  OldContentsKept kept;
  std::vector<Tensor> outside;
  IdMap<bool> copied;
  for (const auto& state : readersOf(old, inPlace)) {
    UOp u = state->uop;
    if (!old.reads(u)) continue; // computed from a tensor handled before
    std::vector<Tensor>& to = isOutsideOfCapture(*state) ? outside : kept.along;
    // A captured function may compute such a value again, as the same node, so the value must not become its
    // buffer.
    bool isApart = &to != &outside || !old.isScheduled(plain(u));
    const bool inDerivative = !old.isName(u) && !old.reads(plain(u)); // the value itself is computed already
    if (!inDerivative && !old.isName(u) && isApart && isComputable(u) && isCheaperThanCopies(old, u)) {
      storeInOwnOrder(*state);
      old.computed(state->uop);
      to.emplace_back(state);
      continue;
    }
    UOpMap<UOp> copies;
    for (UOp version : old.readBy(inDerivative ? UOp::sink(readByDerivative(u)) : u)) {
      UOp copy = copies[version] = copyOf(version);
      old.computed(copy);
      if (copied.contains(copy.slot())) continue;
      copied.set(copy.slot(), true);
      to.push_back(Tensor::fromUOp(copy));
    }
    state->become(inDerivative ? withDerivative(u, copies) : u.substitute(copies));
  }
  if (!outside.empty()) computeOutside(outside);
  kept.changed = !outside.empty() || !kept.along.empty();
  return kept;
}

void madeInCapture(UOp u) {
  for (CaptureScope* c = capturing().innermost; c; c = c->outer_) c->made_.insert(u.id());
}

bool computeBeforeCapture(const std::vector<UOp>& nodes) {
  if (!RunCapture::active()) return false;
  PoolScope scope(tensorPool());
  auto wasMade = [within = capturing().innermost](UOp u) { return within && within->made(u); };
  IdMap<bool> scheduled;
  for (UOp u : UOp::sink(nodes).toposort()) scheduled.set(u.slot(), true);
  std::vector<std::shared_ptr<Tensor::State>> found;
  bool apart = false;
  forEachTensor([&](Tensor::State& s) {
    UOp u = s.uop, base = plain(u);
    bool computed = base.in({Op::BUFFER, Op::CONST, Op::MULTI}) || graph::isRealized(u);
    if (s.changed > capturing().start || computed || !scheduled.contains(base.slot()) || !isComputable(u))
      return;
    if (!wasMade(u) && !wasMade(base)) {
      found.push_back(s.shared_from_this());
      return;
    }
    // The function computes an equal value, whose memory each replay writes.
    s.become(u.substitute({{base, UOp::make(Op::CONTIGUOUS, base.dtype(), {base}, Arg::of("own"))}}));
    apart = true;
  });
  if (found.empty()) return apart;
  computeOutside(std::vector<Tensor>(found.begin(), found.end()));
  return true;
}

CaptureScope::CaptureScope() : outerStart_(capturing().start), outer_(capturing().innermost) {
  std::vector<std::shared_ptr<Tensor::State>> outside, inside;
  forEachTensor([&](Tensor::State& s) {
    if (plain(s.uop).is(Op::ASSIGN))
      (isOutsideOfCapture(s) ? outside : inside).push_back(s.shared_from_this());
  });
  if (!outside.empty()) computeOutside(std::vector<Tensor>(outside.begin(), outside.end()));
  if (!inside.empty()) realizeTensors(std::vector<Tensor>(inside.begin(), inside.end()));
  capturing().start = tensorClock();
  capturing().innermost = this;
}
CaptureScope::~CaptureScope() {
  capturing().start = outerStart_;
  capturing().innermost = outer_;
}

// --- replays ---

void ReplayGuard::watch(CapturedRun::Memory memory) {
  memory_ = std::move(memory);
  forEachTensor([&](Tensor::State& s) {
    for (UOp u : plain(s.uop).is(Op::MULTI) ? UOp(s.uop).toposort() : std::vector<UOp>{plain(s.uop)})
      if (u.is(Op::BUFFER) && memory_.written.contains(Buffer::of(u)->root())) names_.insert(s.born);
  });
  checked_ = 0;
}

bool ReplayGuard::mayName(Tensor::State& s) {
  bool known = false;
  s.forEachName([&](Tensor::State& name) { known = known || names_.contains(name.born); });
  if (known) names_.insert(s.born);
  return known;
}

/// The buffers that a value reads or assigns and a replay overwrites, or that it assigns and a replay reads.
std::vector<UOp> ReplayGuard::lost(UOp root, bool isName) const {
  std::vector<UOp> found;
  IdMap<bool> assigned;
  if (plain(root).is(Op::ASSIGN))
    for (UOp u : plain(root).src(0).toposort())
      if (u.is(Op::BUFFER)) assigned.set(u.slot(), true);
  visitBelow(root, [&](UOp u) {
    if (!u.is(Op::BUFFER)) return Visit::Below;
    const Buffer* memory = Buffer::of(u)->root();
    if (memory_.written.contains(memory) || (!isName && writtenInputs_.contains(memory)) ||
        (assigned.contains(u.slot()) && memory_.read.contains(memory)))
      found.push_back(u);
    return Visit::Past; // sources of a BUFFER are no values
  });
  return found;
}

void ReplayGuard::keep(std::span<const std::shared_ptr<Buffer>> inputs) {
  PoolScope scope(tensorPool());
  writtenInputs_.clear();
  for (size_t i = 0; i < memory_.writtenInputs.size(); ++i)
    if (memory_.writtenInputs[i]) writtenInputs_.insert(inputs[i]->root());
  // A value that was computed may be found to equal the memory itself (`x + 0`), and then shares it: it is seen again.
  for (int round = 0; round < 2; ++round)
    if (!keepOnce()) break;
  checked_ = tensorClock();
}

bool ReplayGuard::keepOnce() {
  std::vector<Tensor> inside, outside;
  std::vector<std::pair<std::shared_ptr<Tensor::State>, std::vector<UOp>>> copied;
  forEachTensor([&](Tensor::State& s) {
    if (writtenInputs_.empty() && s.changed <= checked_) return;
    UOp u = s.uop, base = plain(u);
    bool isName = base.is(Op::BUFFER) || base.is(Op::MULTI);
    if ((isName && mayName(s)) || isInLoop(u)) return;
    // A plain copy is one more name of the memory until one of the two is assigned.
    UOp below = base;
    while (below.is(Op::CONTIGUOUS) && !below.arg()) below = plain(below.src(0));
    isName = isName || (below != base && below.in({Op::BUFFER, Op::ASSIGN}));
    std::vector<UOp> contents = lost(u, isName);
    if (contents.empty()) return;
    if (!isName && (isComputable(u) || base.is(Op::ASSIGN))) {
      if (base.is(Op::ASSIGN) && !graph::isView(u, base) && !mayName(s)) // it has no memory yet
        s.become(UOp::make(Op::CONTIGUOUS, u.dtype(), {u}, Arg::of("own")));
      (isOutsideOfCapture(s) ? outside : inside).emplace_back(s.shared_from_this());
    } else
      copied.emplace_back(s.shared_from_this(), std::move(contents));
  });
  for (auto& [state, contents] : copied) {
    UOpMap<UOp> copies;
    for (UOp u : contents) copies[u] = copyOf(u);
    state->become(UOp(state->uop).substitute(copies));
    for (UOp u : contents)
      (isOutsideOfCapture(*state) ? outside : inside).push_back(Tensor::fromUOp(copies.at(u)));
  }
  checked_ = tensorClock();
  if (!outside.empty()) computeOutside(outside);
  if (!inside.empty()) realizeTensors(inside);
  return !outside.empty() || !inside.empty();
}

} // namespace uopscope
