// Compares values, tensors, addresses and names.
#include "replay/compare/graph_comparison.h"

#include "engine/base/error.h"
#include "engine/uop/eval.h"
#include "engine/uop/sint.h"
#include "replay/compare/graph_variables.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {
namespace {

using Verdict = ValueCheck::Verdict;

VariableList joined(const VariableList& a, const VariableList& b) {
  VariableList out = a;
  for (const Variable& v : b)
    if (std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
  return out;
}
/// The first sample takes every lowest value, the second every highest; then come random corners and values
/// in between. Every second sample goes through the values of a short range in turn.
int64_t choose(int sample, int64_t low, int64_t high, uint64_t hash) {
  constexpr uint64_t kShort = 16;
  const uint64_t width = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  if (width < kShort && sample > 1 && sample % 2 == 0)
    return low + static_cast<int64_t>(static_cast<uint64_t>(sample / 2) % (width + 1));
  if (sample == 0 || (sample > 1 && hash % 4 == 0)) return low;
  if (sample == 1 || hash % 4 == 1) return high;
  return width == UINT64_MAX ? static_cast<int64_t>(hash)
                             : low + static_cast<int64_t>((hash >> 2) % (width + 1));
}
std::string nameOf(const Variable& v) {
  return v.node ? v.node.render() : "lane";
}

} // namespace

GraphComparison::Form GraphComparison::formOf(UOp u) {
  if (u.in(OpSet{Op::SINK, Op::GROUP, Op::END, Op::STORE, Op::KERNEL, Op::BARRIER}) ||
      (u.dtype().isVoid() && !u.is(Op::AFTER)))
    return Form::Effect;
  if (u.is(Op::AFTER)) {
    UOp of = u;
    while (of.is(Op::AFTER)) of = of.src(0);
    if (of.dtype().isVoid()) return Form::Effect;
    if (of.in(group::kDefines | OpSet{Op::BUFFER, Op::BUFFER_VIEW})) return Form::Memory;
  }
  if (u.in(group::kDefines | OpSet{Op::BUFFER, Op::BUFFER_VIEW})) return Form::Memory;
  if (u.dtype().isPtr()) return Form::Address;
  return hasAxes(u) ? Form::Tensor : Form::Value;
}

ValueCheck GraphComparison::same(int samples) const {
  ValueCheck out;
  out.verdict = Verdict::Same;
  out.samples = samples;
  return out;
}
ValueCheck GraphComparison::differs(std::string where, std::string before, std::string after) {
  ValueCheck out;
  out.verdict = Verdict::Differs;
  out.where = std::move(where), out.before = std::move(before), out.after = std::move(after);
  return out;
}

bool GraphComparison::byName(UOp before, UOp after, ValueCheck& out) {
  const OpSet kMemory = group::kDefines | OpSet{Op::BUFFER, Op::BUFFER_VIEW};
  UOp from = before;
  if (after.in(kMemory) && before.in(kMemory | OpSet{Op::AFTER})) {
    from = memoryBase(before);
    if (!from) return false;
    auto sizeOf = [](UOp u) {
      if (u.dtype().isPtr()) return u.dtype().size();
      return u.is(Op::BUFFER) ? u.arg().i() : u.arg().ints().at(0);
    };
    if (from == after) return false;
    if (from.dtype().base() != after.dtype().base() || sizeOf(from) != sizeOf(after)) {
      out = differs("", fmt::format("{} elements of {}", sizeOf(from), from.dtype().base().name()),
                    fmt::format("{} elements of {}", sizeOf(after), after.dtype().base().name()));
      return true;
    }
  } else if (!before.is(Op::RANGE) || !after.is(Op::RANGE) ||
             ctx_.variables.keyOfRange(before) == ctx_.variables.keyOfRange(after)) {
    return false;
  } else if (before.vmax() != after.vmax()) {
    return false;
  }
  const auto to = pass_.renamed.try_emplace(from, after).first;
  const auto back = pass_.renamedFrom.try_emplace(after, from).first;
  if (to->second == after && back->second == from)
    out = same(1);
  else
    out = differs("", "two names", "one name");
  return true;
}

ValueCheck GraphComparison::compare(UOp before, UOp after, std::unordered_set<uint32_t> opaque) {
  ctx_.opaque = std::move(opaque);
  ctx_.layouts = pass_.layouts;
  ctx_.guessed = false;
  ctx_.writes.clear(), ctx_.plain.clear(); // they depend on what is opaque
  bound_.clear();
  for (const UOp root : {before, after})
    if (root.below().has(Op::BIND))
      for (const UOp u : root.toposort())
        if (u.is(Op::BIND) && u.srcCount() == 2 && u.src(0).is(Op::DEFINE_VAR) && u.src(1).isConst())
          bound_[ctx_.variables.keyOfName("v" + u.src(0).arg().as<VarArg>().name)] = u.src(1).arg().i();
  const Form left = formOf(before), right = formOf(after);
  if (left == Form::Effect || right == Form::Effect) {
    const bool parts = after.is(Op::GROUP) && after.srcCount() == before.srcCount() &&
                       std::none_of(after.src().begin(), after.src().end(),
                                    [](UOp s) { return s.in(OpSet{Op::STORE, Op::END}); });
    if (parts && left != Form::Effect && before.hasShape()) return compareGradient(before, after);
    if (left != right) cannotEvaluate(fmt::format("{} has no value", opName(before.op())));
    return compareEffects(before, after);
  }
  if (const auto at = pass_.indices.find(before);
      at != pass_.indices.end() && (right == Form::Value || right == Form::Tensor))
    return compareRanged(before, after, at->second);
  if (before.is(Op::BUFFERIZE) && right == Form::Memory) return compareStored(before, after);
  if (left == Form::Memory && right == Form::Memory) return compareMemory(before, after);
  if (left == Form::Address && right == Form::Address) return compareAddresses(before, after);
  if (before.is(Op::RANGE) && !after.isConst() && !isSameLoop(before, after))
    return compareLoops(before, after);
  if (left == Form::Address || right == Form::Address) cannotEvaluate("an address is no value");
  if (hasAxes(before) && hasAxes(after)) return compareTensors(before, after);
  if (hasAxes(before) != hasAxes(after)) cannotEvaluate("a tensor became the value of a loop");
  return compareValues(before, after);
}

void GraphComparison::assign(GraphValues& a, GraphValues& b, const VariableList& variables, int n,
                             uint64_t seed) {
  std::map<uint32_t, std::pair<int64_t, int64_t>> bounds;
  auto put = [&](uint32_t key, int64_t low, int64_t high) {
    const auto known = bound_.find(key);
    const int64_t v =
        known != bound_.end() ? known->second : choose(n, low, std::max(low, high), mixHash(seed, key));
    a.set(key, v), b.set(key, v);
  };
  for (const Variable& v : variables)
    if (v.node && v.node.is(Op::DEFINE_VAR)) {
      const auto& arg = v.node.arg().as<VarArg>();
      put(v.key, arg.vmin, arg.vmax);
    }
  for (const Variable& v : variables) {
    if (v.node && v.node.is(Op::DEFINE_VAR)) continue;
    const int64_t high = a.extentOf(v) - 1;
    const auto [it, isNew] = bounds.try_emplace(v.key, 0, high);
    if (!isNew) it->second.second = std::min(it->second.second, high);
    put(v.key, 0, it->second.second);
  }
}

ValueCheck
GraphComparison::sample(UOp before, UOp after, const VariableList& variables,
                        const std::function<bool(GraphValues&, GraphValues&, uint64_t, ValueCheck&)>& f) {
  ValueCheck out = same(0);
  int64_t spent = 0;
  for (int n = 0; n < limits_.samples && (n < 2 || spent < limits_.inAll); ++n) {
    ctx_.seed = mixHash(0x5EED, static_cast<uint64_t>(n));
    ctx_.memoryTypes.clear();
    const int64_t budget = std::min(limits_.perSample, limits_.total - spent_);
    if (budget <= 0) throw Error(ErrorKind::Index, "it is too large to be computed");
    ctx_.budget = budget;
    spent_ += budget; // an unused budget comes back; an Error keeps it
    ctx_.roundoff = 0;
    ctx_.coarsest = 0;
    ctx_.guessed = false;
    GraphValues a(ctx_), b(ctx_);
    assign(a, b, variables, n, ctx_.seed);
    const bool goesOn = f(a, b, ctx_.seed, out);
    spent += budget - ctx_.budget;
    spent_ -= ctx_.budget;
    ++out.samples;
    if (goesOn) continue;
    for (const Variable& v : variables)
      if (v.node)
        out.where += fmt::format("{}{} = {}", out.where.empty() ? "" : ", ", nameOf(v), *a.get(v.key));
    out.verdict = Verdict::Differs;
    if (ctx_.guessed) {
      out.verdict = Verdict::Unknown;
      out.why = "text of a target, a tensor core or shards take part";
    }
    break;
  }
  (void)before, (void)after;
  return out;
}

bool GraphComparison::lanesAlike(const Lanes& a, const Lanes& b, ValueCheck& out) const {
  bool isSame = a.size() == b.size() || a.size() == 1 || b.size() == 1;
  for (size_t l = 0; isSame && l < std::max(a.size(), b.size()); ++l)
    isSame = alike(a[l % a.size()], b[l % b.size()], ctx_);
  if (!isSame) out.before = showLanes(a), out.after = showLanes(b);
  return isSame;
}

ValueCheck GraphComparison::compareValues(UOp before, UOp after) {
  const DType x = before.dtype().scalar(), y = after.dtype().scalar();
  const bool comparable = x == y || (x.isFloat() && y.isFloat()) || (x.isInt() && y.isInt());
  if (!comparable) cannotEvaluate(fmt::format("{} became {}", x.name(), y.name()));
  return sample(before, after, joined(ctx_.variables.of(before), ctx_.variables.of(after)),
                [&](GraphValues& a, GraphValues& b, uint64_t, ValueCheck& out) {
                  const Lanes left = a.value(before); // first: it decides the types of memory
                  return lanesAlike(left, b.value(after), out);
                });
}

ValueCheck GraphComparison::compareTensors(UOp before, UOp after) {
  return sample(before, after, joined(ctx_.variables.of(before), ctx_.variables.of(after)),
                [&](GraphValues& a, GraphValues& b, uint64_t seed, ValueCheck& out) {
                  const TensorIndex shape = a.shapeOf(before);
                  if (shape != b.shapeOf(after)) {
                    out.before = shapeStr(before.shape()), out.after = shapeStr(after.shape());
                    return false;
                  }
                  TensorIndex at;
                  for (const int64_t n : shape) {
                    if (n < 1) return true; // nothing to compare
                    at.push_back(choose(out.samples, 0, n - 1, mixHash(seed, at.size() + 77)));
                  }
                  const Lanes left = a.valueAt(before, at);
                  if (lanesAlike(left, b.valueAt(after, at), out)) return true;
                  for (const int64_t i : at)
                    out.where += fmt::format("{}{}", out.where.empty() ? "at " : ", ", i);
                  return false;
                });
}

/// Compares a tensor with its value inside the loops that compute it.
ValueCheck GraphComparison::compareRanged(UOp before, UOp after, const std::vector<UOp>& at) {
  VariableList variables = ctx_.variables.of(after);
  for (const UOp i : at) variables = joined(variables, ctx_.variables.of(i));
  variables = joined(variables, ctx_.variables.of(before));
  return sample(before, after, variables, [&](GraphValues& a, GraphValues& b, uint64_t, ValueCheck& out) {
    const TensorIndex shape = a.shapeOf(before);
    TensorIndex index;
    for (const UOp i : at) {
      const ConstValue v = a.value(i).front();
      if (v.isInvalid()) return true; // the element is not read there
      index.push_back(v.i);
    }
    if (index.size() != shape.size()) cannotEvaluate("a tensor of another rank");
    for (size_t k = 0; k < index.size(); ++k)
      if (index[k] < 0 || index[k] >= shape[k]) return true;
    b.setAtHand(&pass_.indices);
    const Lanes left = a.valueAt(before, index);
    return lanesAlike(left, b.value(after), out);
  });
}

/// Compares a BUFFERIZE with the buffer that stores it.
ValueCheck GraphComparison::compareStored(UOp bufferize, UOp after) {
  const UOp value = bufferize.src(0);
  return sample(bufferize, after, joined(ctx_.variables.of(bufferize), ctx_.variables.of(after)),
                [&](GraphValues& a, GraphValues& b, uint64_t seed, ValueCheck& out) {
                  TensorIndex at;
                  int64_t flat = 0;
                  for (const UOp r : bufferize.src().subspan(1)) {
                    const int64_t n = r.isConst() ? 1 : a.extentOf({0, r, 0});
                    if (n < 1) return true;
                    at.push_back(choose(out.samples, 0, n - 1, mixHash(seed, at.size() + 77)));
                    flat = flat * (r.vmax() + 1) + at.back();
                    if (r.is(Op::RANGE)) a.set(ctx_.variables.keyOfRange(r), at.back());
                  }
                  if (value.is(Op::ASSIGN)) { // it is stored at the place of its target
                    const auto to = a.pointers(value.src(0));
                    if (to.size() != 1) cannotEvaluate("an assignment to several elements at once");
                    if (!to[0].valid) return true;
                    flat = to[0].index;
                  }
                  const Lanes left = a.value(value.is(Op::ASSIGN) ? value.src(1) : value);
                  return lanesAlike(
                      left, {b.read(after, flat, left.empty() ? dtypes::void_ : value.dtype().scalar())},
                      out);
                });
}

ValueCheck GraphComparison::compareAddresses(UOp before, UOp after) {
  auto versionOf = [](UOp u) { // the memory of an address, in the version at that point
    while (u.in(OpSet{Op::INDEX, Op::CAST})) u = u.src(0);
    return u;
  };
  const UOp from = versionOf(before), to = versionOf(after);
  if (from != to && from.is(Op::AFTER) && to.is(Op::AFTER))
    if (ValueCheck c = compareMemory(from, to); c.verdict != Verdict::Same) return c;
  return sample(
      before, after, joined(ctx_.variables.of(before), ctx_.variables.of(after)),
      [&](GraphValues& a, GraphValues& b, uint64_t, ValueCheck& out) {
        auto listed = [](GraphValues& v, UOp u) {
          std::vector<std::tuple<bool, uint64_t, int64_t>> all;
          for (const Pointer& p : v.pointers(u))
            for (int k = 0; k < p.width; ++k)
              all.emplace_back(p.valid, p.valid ? v.memoryKey(p.memory) : 0, p.valid ? p.index + k : 0);
          return all;
        };
        const auto left = listed(a, before), right = listed(b, after);
        if (left == right) return true;
        auto shown = [](const auto& all) {
          std::string text;
          for (const auto& [valid, memory, index] : all)
            text +=
                fmt::format("{}{}", text.empty() ? "address " : ", ", valid ? std::to_string(index) : "none");
          return text;
        };
        out.before = shown(left), out.after = shown(right);
        return false;
      });
}

/// Whether `after` depends on the same loop, perhaps as a different type or as lanes.
bool GraphComparison::isSameLoop(UOp range, UOp after) {
  // The sources of a loop besides its bound are effects that it waits for. Their loops are not the loop's.
  if (after.is(Op::RANGE) && after.arg() == range.arg() && after.src(0) == range.src(0)) return true;
  const uint32_t key = ctx_.variables.keyOfRange(range);
  for (const Variable& v : ctx_.variables.of(after)) {
    if (v.key == key && (v.node ? v.node.vmax() : v.size - 1) != range.vmax()) return false;
    if (v.key != key && !hasKey(ctx_.variables.of(range), v.key)) return false;
  }
  return hasKey(ctx_.variables.of(after), key);
}

/// Compares a loop with its replacement, several loops or a renamed one: every iteration must happen exactly
/// once. A loop over results may compute some again, as overlapping tiles do: they store the same values.
ValueCheck GraphComparison::compareLoops(UOp range, UOp after) {
  VariableList outer = ctx_.variables.of(range), loops;
  std::erase_if(outer, [&](const Variable& v) { return v.key == ctx_.variables.keyOfRange(range); });
  for (const Variable& v : ctx_.variables.of(after))
    if (!hasKey(outer, v.key)) loops.push_back(v);
  if (loops.empty()) cannotEvaluate("a loop became a value");
  const AxisType type =
      range.arg().kind() == ArgKind::Range ? range.arg().as<RangeArg>().type : AxisType::Loop;
  const bool mayRepeat =
      type != AxisType::Reduce && type != AxisType::GroupReduce && type != AxisType::Unroll;
  return sample(range, after, outer, [&](GraphValues& a, GraphValues& b, uint64_t, ValueCheck& out) {
    const int64_t n = a.extentOf({0, range, 0});
    std::vector<int> times(static_cast<size_t>(std::max<int64_t>(0, n)), 0);
    int64_t beyond = 0;
    b.forEach(loops, [&] {
      const int64_t i = b.value(after).front().i;
      if (i < 0 || i >= n)
        ++beyond;
      else
        ++times[static_cast<size_t>(i)];
    });
    if (beyond && std::all_of(times.begin(), times.end(), [](int t) { return t == 1; }))
      cannotEvaluate("a loop was padded, and which of its iterations count is told elsewhere");
    for (size_t i = 0; i < times.size(); ++i)
      if (times[i] < 1 || (times[i] > 1 && !mayRepeat) || beyond) {
        out.before = fmt::format("iteration {} once", i);
        out.after = fmt::format("{} times", times[i]);
        return false;
      }
    return true;
  });
}

} // namespace uopscope
