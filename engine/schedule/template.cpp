// Runs the passes of a schedule, and stores the result with numbers that are valid without the graph.
#include "engine/schedule/template.h"

#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/base/id_map.h"
#include "engine/schedule/memory_planner.h"
#include "engine/schedule/schedule_passes.h"
#include "engine/uop/origin.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace uopscope::sched {

namespace {

using namespace pat;

constexpr PatVar variable{"variable"};

// --- rewrite for sched cache ---

struct NumberContext {
  UOpMap<int64_t> numbers; ///< of BUFFERs, and of UNIQUEs of constants
};
UOp numberBuffer(Match& m) {
  UOp b = m.root();
  if (!b.src(0).is(Op::UNIQUE)) return m.decline("no buffer of its own");
  UOp number = UOp::make(Op::LUNIQUE, dtypes::void_, {}, Arg::of(m.ctx<NumberContext>().numbers.at(b)));
  return b.withSrc({number, b.src(1)});
}
/// A constant with a UNIQUE keeps one, so that values computed from it get memory of their own.
UOp numberConstant(Match& m) {
  UOp c = m.root();
  if (c.srcCount() < 2 || !c.src(1).is(Op::UNIQUE)) return m.decline("no constant of its own");
  return c.withSrc({c.src(0), UOp::make(Op::LUNIQUE, dtypes::void_, {},
                                        Arg::of(m.ctx<NumberContext>().numbers.at(c.src(1))))});
}
constexpr RuleDef kForCache[] = {
    RULE("number-buffer", any(Op::BUFFER), numberBuffer),
    RULE("strip-binding", op(Op::BIND, variable, anything()), variable),
    RULE("number-constant", any(Op::CONST), numberConstant),
};
const KnownRules kForCacheKnown(kForCache);

class Builder {
public:
  Builder(UOp sink, const Signature& signature)
      : signature_(signature), form_(std::make_shared<ScheduleTemplate>()) {
    form_->inputs = signature.buffers.size();
    PoolScope scope(work_);
    normalize(sink);
    build();
  }
  std::shared_ptr<const ScheduleTemplate> result() const { return form_; }

private:
  void normalize(UOp sink) {
    UOpMap<UOp> imported, rewritten;
    UOp root = work_.import(sink, &imported);
    NumberContext ctx;
    for (size_t k = 0; k < signature_.buffers.size(); ++k)
      ctx.numbers[imported.at(signature_.buffers[k])] = static_cast<int64_t>(k);
    for (size_t k = 0; k < signature_.uniques.size(); ++k)
      ctx.numbers[imported.at(signature_.uniques[k])] = static_cast<int64_t>(k);
    static const PatternMatcher matcher({kForCache});
    root_ = graphRewriteBottomUp(root, matcher,
                                 {.name = "rewrite for sched cache", .ctx = ctx, .map = &rewritten});
    normal_.reserve(signature_.nodes.size());
    for (UOp u : signature_.nodes) {
      auto it = imported.find(u);
      UOp there = it == imported.end() ? UOp() : it->second;
      auto now = there ? rewritten.find(there) : rewritten.end();
      normal_.push_back(now == rewritten.end() ? there : now->second);
    }
  }

  void build() {
    std::vector<UOp> copied;
    for (int attempt = 0;; ++attempt) {
      // Each further attempt starts from the first graph again, so observers see it as a scope of its own.
      std::optional<ObservedScope> again;
      if (attempt)
        again.emplace(
            ScopeBegin{ScopeKind::Other,
                       attempt == 1 ? "attempt 2: scalars are stored" : "attempt: old contents are copied",
                       {},
                       root_});
      state_ = ScheduleState();
      state_.storeScalars = attempt > 0;
      state_.nextBuffer = static_cast<int64_t>(form_->inputs);
      order_.clear();
      try {
        passes(copied);
      } catch (const Error& e) {
        throw Error(e.kind(), inScript(e.what()));
      }
      if (state_.needCopies.empty()) break;
      if (!attempt) continue; // storing scalars is tried first, since it costs less than a copy
      for (UOp contents : state_.needCopies) {
        UOp original = contents; // the node in the graph that every attempt starts from
        auto at = std::find(now_.begin(), now_.end(), contents); // later matches are markers of the value
        if (at != now_.end()) original = normal_[static_cast<size_t>(at - now_.begin())];
        bool again = std::find(copied.begin(), copied.end(), original) != copied.end();
        if (again || attempt > 64)
          throw Error(ErrorKind::Unsupported,
                      "cannot order these assignments: a buffer's old and new contents depend on each other. "
                      "Realize one of them first");
        copied.push_back(original);
      }
    }
    describe();
  }

  void passes(const std::vector<UOp>& copied) {
    ScheduleWork work{state_, copied, {}, order_};
    UOp sink = runSchedulePasses(SchedulePass::Part::TensorGraph, root_, work);
    now_.clear();
    for (UOp u : normal_) {
      for (const UOpMap<UOp>& move : work.moves) {
        auto it = u ? move.find(u) : move.end();
        u = it == move.end() ? UOp() : it->second;
      }
      now_.push_back(u);
    }
    for (size_t k = 0; k < now_.size(); ++k)
      if (now_[k] && signature_.held[k]) state_.held[baseOf(now_[k])] = true;
    runSchedulePasses(SchedulePass::Part::Ranges, sink, work);
  }

  // --- the result ---

  /// The assignments that u writes over and u itself, the innermost first, above the first one that `isKnown`. As calls, long
  /// chains would not fit on the stack.
  template <class F>
  static std::vector<UOp> chainOfAssignments(UOp u, F isKnown) {
    std::vector<UOp> chain;
    for (;; u = u.src(0)) {
      while (u.in(group::kMovement) || u.is(Op::AFTER)) u = u.src(0);
      if (!u.is(Op::ASSIGN) || isKnown(u)) break;
      chain.push_back(u);
    }
    std::ranges::reverse(chain);
    return chain;
  }

  /// The view of a buffer that holds the value of a node of the rewritten graph; null if none does.
  UOp located(UOp u, const UOpMap<size_t>& numberOf) {
    std::vector<UOp> chain;
    for (; u.in(group::kMovement); u = u.src(0)) chain.push_back(u);
    UOp at;
    if (u.is(Op::BUFFER) || u.is(Op::CONST)) {
      at = u;
    } else if (auto it = numberOf.find(u); it != numberOf.end()) {
      const StoredValue& value = state_.stored[it->second];
      if (!value.buffer) return {};
      if (u.is(Op::ASSIGN)) {
        auto isKnown = [&](UOp assign) {
          const auto number = numberOf.find(assign);
          return assignedAt_.contains(assign) || number == numberOf.end() ||
                 !state_.stored[number->second].buffer;
        };
        for (UOp assign : chainOfAssignments(u, isKnown)) {
          const UOp target = located(assign.src(0), numberOf);
          assignedAt_.insert_or_assign(assign, target);
        }
        at = assignedAt_.find(u)->second;
      } else {
        at = value.buffer;
        Shape room;
        for (const Sint& s : value.shape) room.emplace_back(s.vmax());
        if (!(at.shape() == room)) at = UOp::make(Op::RESHAPE, u.dtype(), {at, shapeToUOp(room)});
        if (!(room == value.shape))
          at = UOp::make(Op::SHRINK, u.dtype(),
                         {at, shapeToUOp(Shape(room.size(), Sint(0))), shapeToUOp(value.shape)});
      }
    } else if (u.is(Op::AFTER)) {
      at = located(u.src(0), numberOf);
      if (at && !hasRun(u, at)) return {};
    }
    if (!at) return {};
    for (size_t k = chain.size(); k-- > 0;) {
      std::vector<UOp> src(chain[k].src().begin(), chain[k].src().end());
      src[0] = at;
      at = chain[k].withSrc(src);
    }
    return at;
  }

  /// Whether all kernels given by hand that `after` names are among the kernels of the schedule: one whose result
  /// turned out not to matter (x < x) is not, and its memory has no contents yet.
  bool hasRun(UOp after, UOp at) const {
    int64_t named = 0;
    for (; after.is(Op::AFTER); after = after.src(0)) named += after.src(1).is(Op::CUSTOM_KERNEL);
    const auto& given = state_.givenByHand;
    return std::count(given.begin(), given.end(), at.bufferOf()) >= named;
  }

  /// The view of the buffer that an assignment writes.
  UOp assignedView(UOp u) {
    if (u.is(Op::ASSIGN)) {
      for (UOp assign : chainOfAssignments(u, [&](UOp a) { return viewAssigned_.contains(a); })) {
        const UOp view = assignedView(assign.src(0));
        viewAssigned_.insert_or_assign(assign, view);
      }
      return viewAssigned_.find(u)->second;
    }
    if (!u.in(group::kMovement)) return u.is(Op::BUFFER) ? u : UOp();
    UOp inner = assignedView(u.src(0));
    if (!inner) return {};
    std::vector<UOp> src(u.src().begin(), u.src().end());
    src[0] = inner;
    return u.withSrc(src);
  }

  void describe() {
    form_->pool = std::make_shared<Pool>();
    Pool& kept = *form_->pool;
    UOpMap<size_t> numberOf, slotOf;
    for (size_t k = 0; k < state_.stored.size(); ++k) {
      numberOf[state_.stored[k].node] = k;
    }
    findOrigins();

    for (const KernelEntry& entry : order_) {
      ScheduleTemplate::Item item;
      item.ast = kept.import(entry.ast);
      for (UOp b : entry.buffers) item.slots.push_back(slot(b, slotOf));
      describeOrigin(entry, item);
      form_->items.push_back(std::move(item));
    }

    UOp sink = signature_.nodes.back();
    std::set<UOp, decltype([](UOp a, UOp b) { return a.id() < b.id(); })> outputs;
    for (UOp s : sink.src()) {
      outputs.insert(s);
      outputs.insert(baseOf(s));
    }
    // A tensor that stands for DETACH(x) and one that stands for x are names of one memory: both get x's.
    for (size_t k = 0; k < now_.size(); ++k)
      if (UOp u = signature_.nodes[k]; signature_.held[k] && u.in(group::kMarkers)) {
        while (u.in(group::kMarkers | group::kMovement)) u = u.src(0);
        outputs.insert(u);
      }
    std::set<size_t> keptSlots;
    IdMap<bool> overtaken; // ASSIGNs replaced by a later ASSIGN: they must not run again
    for (size_t k = now_.size(); k-- > 0;) {
      UOp u = signature_.nodes[k];
      const bool byHand =
          u.is(Op::AFTER) && u.src(1).is(Op::CUSTOM_KERNEL); // it must not run again, like an ASSIGN
      bool wanted = outputs.contains(u) || signature_.held[k] || u.is(Op::ASSIGN) || byHand;
      if (!wanted || !now_[k] ||
          u.in({Op::BUFFER, Op::CONST, Op::DEVICE, Op::UNIQUE, Op::SINK, Op::BIND, Op::DEFINE_VAR}))
        continue;
      UOp base = baseOf(u);
      if (base.in({Op::BUFFER, Op::CONST, Op::BUFFER_VIEW})) continue; // it keeps its memory
      UOp at = located(now_[k], numberOf);
      if (!at && u.is(Op::ASSIGN) && overtaken.contains(u.slot())) at = assignedView(now_[k]);
      if (!at) continue;
      for (UOp t = u.is(Op::ASSIGN) ? u.src(0) : UOp(); t && (t.in(group::kMovement) || t.is(Op::ASSIGN));
           t = t.src(0))
        if (t.is(Op::ASSIGN)) overtaken.set(t.slot(), true);
      UOpMap<UOp> imported;
      form_->becomes.emplace_back(k, kept.import(at, &imported));
      for (const auto& [from, to] : imported) keepLeaf(from, to, slotOf, keptSlots);
      // import() does not list nodes that it found in the pool already.
      for (UOp leaf : at.toposort()) keepLeaf(leaf, {}, slotOf, keptSlots);
    }
    planTemporaries(keptSlots);
  }

  size_t slot(UOp buffer, UOpMap<size_t>& slotOf) {
    auto number = static_cast<size_t>(buffer.src(0).arg().i());
    auto [it, isNew] = slotOf.try_emplace(buffer, number);
    if (isNew && number >= form_->inputs) {
      size_t k = number - form_->inputs;
      if (k >= form_->fresh.size()) form_->fresh.resize(k + 1);
      form_->fresh[k] = {buffer.device(), buffer.dtype(), buffer.arg().i(), -1};
    }
    return it->second;
  }

  void keepLeaf(UOp from, UOp to, UOpMap<size_t>& slotOf, std::set<size_t>& keptSlots) {
    if (from.is(Op::DEFINE_VAR) && to) form_->variables[from.arg().as<VarArg>().name] = to;
    if (from.is(Op::CONST) && from.srcCount() > 1 && to)
      form_->uniques[static_cast<size_t>(to.src(1).arg().i())] = to.src(1);
    if (!from.is(Op::BUFFER)) return;
    size_t s = slot(from, slotOf);
    keptSlots.insert(s);
    if (form_->leaves.size() <= s) form_->leaves.resize(s + 1);
    if (to) form_->leaves[s] = to;
  }

  void planTemporaries(const std::set<size_t>& keptSlots) {
    if (vars::noMemoryPlanner) return;
    std::map<size_t, Lifetime> lives;
    std::set<size_t> transferred; // memory used by transfers is not shared
    for (size_t k = 0; k < form_->items.size(); ++k)
      for (size_t s : form_->items[k].slots) {
        if (s < form_->inputs || keptSlots.contains(s)) continue;
        if (!form_->items[k].ast.is(Op::SINK)) transferred.insert(s);
        const FreshBuffer& f = form_->fresh[s - form_->inputs];
        Lifetime& life =
            lives.try_emplace(s, Lifetime{f.device, f.size * f.dtype.itemsize(), k, k}).first->second;
        life.last = k;
      }
    std::vector<Lifetime> list;
    std::vector<size_t> slots;
    for (const auto& [s, life] : lives)
      if (!transferred.contains(s)) {
        slots.push_back(s);
        list.push_back(life);
      }
    if (list.size() < 2) return; // nothing to share
    MemoryPlan plan = planMemory(list);
    for (size_t k = 0; k < slots.size(); ++k)
      form_->fresh[slots[k] - form_->inputs].arenaOffset = plan.offsets[k];
    form_->arenaBytes = plan.arenaBytes;
  }

  /// The message for a graph that cannot be scheduled: the line of the script, the operation, and at most ten
  /// lines of text.
  std::string inScript(std::string_view text) {
    constexpr size_t kLines = 10, kColumns = 200;
    std::string said;
    for (size_t line = 0, at = 0; line < kLines && at <= text.size(); ++line) {
      size_t end = std::min(text.find('\n', at), text.size());
      said += fmt::format("{}{}", line ? "\n" : "", text.substr(at, std::min(end - at, kColumns)));
      at = end + 1;
    }
    findNodeOrigins();
    const NodeOrigin* origin = nullptr;
    std::string value;
    if (state_.failing >= 0) {
      const StoredValue& failing = state_.stored[static_cast<size_t>(state_.failing)];
      value = fmt::format(" {} of shape {}", opName(failing.node.op()), shapeStr(failing.shape));
      for (UOp part : failing.parts)
        if (auto it = origin_.find(part); it != origin_.end() && !origin) origin = it->second;
    }
    for (UOp s : signature_.nodes.back().src())
      if (!origin) origin = originOf(s);
    if (!origin || origin->file.empty()) return value.empty() ? said : fmt::format("{}: {}", value, said);
    return fmt::format("{}:{}: in {}{}: {}", origin->file, origin->line, origin->operation, value, said);
  }

  void findNodeOrigins() {
    for (size_t k = 0; k < now_.size(); ++k)
      if (now_[k])
        if (const NodeOrigin* o = originOf(signature_.nodes[k])) origin_.try_emplace(now_[k], o);
  }

  void findOrigins() {
    findNodeOrigins();
    for (size_t k = 0; k < state_.stored.size(); ++k)
      if (state_.stored[k].buffer) storedBy_[state_.stored[k].buffer].push_back(k);
    inlined_.resize(state_.stored.size());
    for (size_t k = 0; k < state_.stored.size(); ++k)
      if (!state_.stored[k].buffer)
        for (int user : state_.stored[k].users) inlined_[static_cast<size_t>(user)].push_back(k);
  }

  /// Records the tensor operations that a kernel computes, first to last, and the script line of the last
  /// one.
  void describeOrigin(const KernelEntry& entry, ScheduleTemplate::Item& item) {
    std::vector<size_t> stack;
    for (int64_t o : entry.kernel.arg().ints()) {
      auto list = storedBy_.find(entry.buffers[static_cast<size_t>(o)]);
      if (list == storedBy_.end() || list->second.empty()) continue;
      stack.push_back(list->second.front());
      stack.push_back(static_cast<size_t>(state_.stored[list->second.front()].kernel));
      if (list->second.size() > 1) list->second.erase(list->second.begin());
    }
    std::set<size_t> seen;
    std::vector<const NodeOrigin*> found;
    while (!stack.empty()) {
      size_t k = stack.back();
      stack.pop_back();
      if (!seen.insert(k).second) continue;
      for (UOp part : state_.stored[k].parts)
        if (auto it = origin_.find(part); it != origin_.end()) found.push_back(it->second);
      stack.insert(stack.end(), inlined_[k].begin(), inlined_[k].end());
    }
    if (found.empty()) return;
    item.script = {found.front()->file, found.front()->line};
    for (auto it = found.rbegin(); it != found.rend(); ++it) {
      std::string name((*it)->operation);
      if (std::find(item.metadata.begin(), item.metadata.end(), name) == item.metadata.end())
        item.metadata.push_back(name);
    }
  }

  const Signature& signature_;
  std::shared_ptr<ScheduleTemplate> form_;
  Pool work_;
  UOp root_;
  std::vector<UOp> normal_,
      now_; ///< nodes of the signature after "rewrite for sched cache", and before ranges are assigned
  ScheduleState state_;
  std::vector<KernelEntry> order_;
  UOpMap<const NodeOrigin*> origin_;
  UOpMap<std::vector<size_t>> storedBy_;
  std::vector<std::vector<size_t>> inlined_;
  UOpMap<UOp> assignedAt_, viewAssigned_; ///< caches for ASSIGNs, so that a chain of them is walked once
};

} // namespace

std::shared_ptr<const ScheduleTemplate> makeTemplate(UOp sink, const Signature& signature) {
  return Builder(sink, signature).result();
}

Schedule instantiate(const ScheduleTemplate& form, const Signature& signature) {
  Schedule schedule;
  std::map<std::string, UOp> arenas;
  for (const auto& [device, bytes] : form.arenaBytes)
    arenas[device] = newBuffer(device, dtypes::uint8, bytes);
  std::vector<UOpRef> buffers;
  for (UOp b : signature.buffers) buffers.emplace_back(b);
  for (const FreshBuffer& f : form.fresh) {
    if (f.device.empty())
      buffers.emplace_back();
    else if (f.arenaOffset < 0)
      buffers.emplace_back(newBuffer(f.device, f.dtype, f.size));
    else
      buffers.emplace_back(UOp::make(Op::BUFFER_VIEW, f.dtype, {arenas.at(f.device)},
                                     Arg::of(std::vector<int64_t>{f.size, f.arenaOffset})));
  }
  for (const ScheduleTemplate::Item& item : form.items) {
    ScheduleItem& made = schedule.items.emplace_back();
    made.ast = item.ast;
    made.pool = form.pool;
    for (size_t s : item.slots) made.buffers.push_back(buffers[s]);
    made.metadata = item.metadata;
    made.script = item.script;
  }
  UOpMap<UOp> known;
  for (size_t s = 0; s < form.leaves.size(); ++s)
    if (form.leaves[s]) known[form.leaves[s]] = buffers[s];
  for (const auto& [number, unique] : form.uniques) known[unique] = signature.uniques[number];
  for (const auto& [name, define] : form.variables)
    if (auto it = signature.variables.find(name); it != signature.variables.end())
      known[define] = it->second.bind;
  for (const auto& [position, view] : form.becomes)
    schedule.becomes.emplace_back(signature.nodes[position], Pool::current().import(view, &known));
  for (const auto& [name, bound] : signature.variables) schedule.vars.emplace_back(name, bound.value);
  return schedule;
}

} // namespace uopscope::sched
