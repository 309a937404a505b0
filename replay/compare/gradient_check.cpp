// Gradients: an operation became a GROUP with one gradient for each source. The gradient it was given is some
// node of the result; for that node as an unknown function, each part must be the derivative times it, or for
// movement operations and sums the adjoint: each element of the source gets the sum of its shares in the result.
// Tangents: the derivatives times the tangents of the sources, added up.
#include "engine/base/error.h"
#include "engine/codegen/reduce.h"
#include "engine/uop/eval.h"
#include "engine/uop/sint.h"
#include "replay/compare/graph_comparison.h"

#include <algorithm>
#include <cmath>

namespace uopscope {
namespace {

constexpr int64_t kMostResults = 20'000;
constexpr size_t kMostCandidates = 24;

/// Derivative of the operation by operand k, in double; none at a corner.
std::optional<double> slope(Op op, std::vector<ConstValue> x, size_t k) {
  const double at = x[k].asDouble(), h = 1e-5 * std::max(1.0, std::abs(at));
  auto f = [&](double v) {
    x[k] = ConstValue::ofFloat(v);
    return evalAlu(op, dtypes::float64, dtypes::float64, x).asDouble();
  };
  const double low = (f(at) - f(at - h)) / h, high = (f(at + h) - f(at)) / h;
  if (!std::isfinite(low) || !std::isfinite(high) ||
      std::abs(low - high) > 1e-2 * std::max(1.0, std::abs(low)))
    return {};
  return (low + high) / 2;
}

/// Whether every element is one number, which the result may use for itself: it keeps its value then.
bool isOneNumber(UOp u) {
  while (u.in(group::kMovement) && !u.is(Op::PAD)) u = u.src(0);
  return u.isConst();
}

void forEachIndex(GraphValues& v, const TensorIndex& shape,
                  const std::function<void(const TensorIndex&)>& f) {
  int64_t total = 1;
  for (const int64_t n : shape) total *= n;
  if (total > kMostResults) throw Error(ErrorKind::Index, "it is too large to be computed");
  v.spend(total);
  TensorIndex at(shape.size(), 0);
  for (int64_t i = 0; i < total; ++i) {
    f(at);
    for (size_t k = shape.size(); k-- > 0;) {
      if (++at[k] < shape[k]) break;
      at[k] = 0;
    }
  }
}

/// Derivative of the sum of all results, each times its gradient, by element `at` of source k. None where the
/// operation has a corner or the derivative is no number.
std::optional<double> expected(GraphValues& v, UOp u, UOp given, size_t k, const TensorIndex& at) {
  auto element = [&](UOp t, const TensorIndex& i) { return v.valueAt(t, i).front(); };
  if (u.in(group::kMovement)) {
    double sum = 0;
    forEachIndex(v, v.shapeOf(u), [&](const TensorIndex& i) {
      TensorIndex from = i;
      if (v.throughMovement(u, from) && from == at) sum += element(given, i).asDouble();
    });
    return sum;
  }
  if (u.is(Op::REDUCE_AXIS)) {
    const auto& arg = u.arg().as<ReduceArg>();
    TensorIndex to = at;
    for (const int64_t axis : arg.axes) to[static_cast<size_t>(axis)] = 0;
    const double g = element(given, to).asDouble();
    if (arg.op == Op::ADD) return g;
    const double whole = element(u, to).asDouble(), x = element(u.src(0), at).asDouble();
    if (arg.op == Op::MUL) return x == 0 ? std::nullopt : std::optional(g * whole / x);
    if (arg.op != Op::MAX) return {};
    double times = 0;
    TensorIndex extents;
    for (const int64_t axis : arg.axes) extents.push_back(v.shapeOf(u.src(0))[static_cast<size_t>(axis)]);
    forEachIndex(v, extents, [&](const TensorIndex& i) {
      TensorIndex from = to;
      for (size_t a = 0; a < i.size(); ++a) from[static_cast<size_t>(arg.axes[a])] = i[a];
      times += element(u.src(0), from).asDouble() == whole;
    });
    return x == whole ? g / times : 0.0;
  }
  const double g = element(given, at).asDouble();
  if (u.in(group::kComparison)) return 0.0;
  if (u.is(Op::WHERE)) return k == 0 ? 0.0 : (element(u.src(0), at).i != 0) == (k == 1) ? g : 0.0;
  if (u.in(OpSet{Op::CAST, Op::CONTIGUOUS, Op::CONTIGUOUS_BACKWARD, Op::COPY})) return g;
  if (!u.in(group::kAlu) || !u.dtype().isFloat())
    cannotEvaluate("a gradient of an operation without a known derivative");
  std::vector<ConstValue> x;
  for (const UOp s : u.src()) x.push_back(element(s, at));
  const auto by = slope(u.op(), x, k);
  return by ? std::optional(*by * g) : std::nullopt;
}

/// Calls f with each index that is reduced into element `to`.
void forEachReduced(GraphValues& v, UOp reduce, const TensorIndex& to,
                    const std::function<void(const TensorIndex&)>& f) {
  const auto& axes = reduce.arg().as<ReduceArg>().axes;
  TensorIndex extents;
  for (const int64_t axis : axes) extents.push_back(v.shapeOf(reduce.src(0))[static_cast<size_t>(axis)]);
  forEachIndex(v, extents, [&](const TensorIndex& i) {
    TensorIndex from = to;
    for (size_t a = 0; a < i.size(); ++a) from[static_cast<size_t>(axes[a])] = i[a];
    f(from);
  });
}

/// The derivative of element `at` along the tangents (null: zero); none where there is a corner.
std::optional<double> along(GraphValues& v, UOp u, const std::vector<UOp>& tangents, const TensorIndex& at) {
  auto element = [&](UOp t, const TensorIndex& i) { return v.valueAt(t, i).front(); };
  auto tangent = [&](size_t k, const TensorIndex& i) {
    return tangents[k] ? element(tangents[k], i).asDouble() : 0.0;
  };
  if (u.is(Op::REDUCE_AXIS)) {
    const Op how = u.arg().as<ReduceArg>().op;
    const double whole = element(u, at).asDouble();
    double sum = 0, times = 0;
    bool corner = false;
    forEachReduced(v, u, at, [&](const TensorIndex& from) {
      const double x = element(u.src(0), from).asDouble();
      corner = corner || (how == Op::MUL && x == 0);
      if (how == Op::MAX && x != whole) return;
      ++times;
      sum += tangent(0, from) * (how == Op::MUL && x != 0 ? whole / x : 1);
    });
    if (how != Op::MUL && how != Op::MAX)
      cannotEvaluate("a tangent of a reduction without a known derivative");
    return corner ? std::nullopt : std::optional(how == Op::MAX ? sum / times : sum);
  }
  if (u.is(Op::WHERE)) return tangent(element(u.src(0), at).i != 0 ? 1 : 2, at);
  if (u.is(Op::CAST)) return tangent(0, at);
  if (!u.in(group::kAlu) || !u.dtype().isFloat())
    cannotEvaluate("a tangent of an operation without a known derivative");
  std::vector<ConstValue> x;
  for (const UOp s : u.src()) x.push_back(element(s, at));
  double sum = 0;
  for (size_t k = 0; k < x.size(); ++k) {
    if (!tangents[k]) continue;
    const auto by = slope(u.op(), x, k);
    if (!by) return {};
    sum += *by * tangent(k, at);
  }
  return sum;
}

TensorIndex anIndex(const TensorIndex& shape, uint64_t seed) {
  TensorIndex at;
  for (const int64_t n : shape)
    at.push_back(n > 0 ? static_cast<int64_t>(mixHash(seed, at.size()) % static_cast<uint64_t>(n)) : 0);
  return at;
}
bool isNear(double right, double got) {
  return !std::isfinite(got) ||
         std::abs(right - got) <= 1e-2 * std::max({1.0, std::abs(right), std::abs(got)});
}

} // namespace

ValueCheck GraphComparison::compareTangent(UOp before, UOp after, const UOpMap<UOp>& tangents) {
  std::vector<UOp> each;
  ctx_.opaque.clear();
  for (const UOp s : before.src()) {
    const auto found = tangents.find(s);
    each.push_back(found == tangents.end() || found->second.is(Op::NOOP) ? UOp() : found->second);
    for (const UOp u : {s, each.back()})
      if (u && u.dtype().isFloat() && !isOneNumber(u)) ctx_.opaque.insert(u.slot());
  }
  return sample(before, after, ctx_.variables.of(after),
                [&](GraphValues& a, GraphValues& b, uint64_t seed, ValueCheck& told) {
                  const TensorIndex at = anIndex(a.shapeOf(before), seed);
                  const auto right = along(a, before, each, at);
                  const double got = b.valueAt(after, at).front().asDouble();
                  if (!right || isNear(*right, got)) return true;
                  told.before = std::to_string(*right), told.after = std::to_string(got);
                  return false;
                });
}

ValueCheck GraphComparison::compareGradient(UOp before, UOp after) {
  // The incoming gradient has the shape of the result and does not belong to the operation.
  std::vector<UOp> queue{after}, candidates;
  std::unordered_set<uint32_t> seen;
  UOpMap<bool> own;
  for (const UOp s : before.src()) own[s] = true;
  for (size_t k = 0; k < queue.size() && candidates.size() < kMostCandidates && k < 200; ++k)
    for (const UOp s : queue[k].src()) {
      if (!seen.insert(s.slot()).second || s == before || own.contains(s)) continue;
      queue.push_back(s);
      try {
        if (s.dtype().isFloat() && s.hasShape() && s.shape() == before.shape()) candidates.push_back(s);
      } catch (const Error&) {
        continue;
      }
    }
  ValueCheck out;
  if (candidates.empty()) { // no gradient; right for an operation that has none
    const bool none =
        std::all_of(after.src().begin(), after.src().end(), [](UOp s) { return s.dtype().isVoid(); });
    if (!none || (before.dtype().isFloat() && !before.in(group::kComparison)))
      cannotEvaluate("the gradient it was given is not in the result");
    return same(1);
  }
  // Different gradients are made of the one that was given; a single one may be that itself.
  std::vector<UOp> parts;
  for (const UOp s : after.src())
    if (!s.dtype().isVoid() && std::find(parts.begin(), parts.end(), s) == parts.end()) parts.push_back(s);
  if (parts.size() > 1)
    std::stable_partition(candidates.begin(), candidates.end(),
                          [&](UOp c) { return std::find(parts.begin(), parts.end(), c) == parts.end(); });
  for (const UOp given : candidates) {
    ctx_.opaque.clear();
    ctx_.opaque.insert(given.slot());
    for (const UOp s : before.src())
      if (s.dtype().isFloat() && !isOneNumber(s)) ctx_.opaque.insert(s.slot());
    ValueCheck c = sample(
        before, after, ctx_.variables.of(after),
        [&](GraphValues& a, GraphValues& b, uint64_t seed, ValueCheck& told) {
          for (size_t k = 0; k < after.srcCount(); ++k) {
            const UOp from = before.src(k), gradient = after.src(k);
            if (gradient.dtype().isVoid() || !from.dtype().isFloat()) continue;
            TensorIndex at;
            for (const int64_t n : a.shapeOf(from))
              at.push_back(
                  n > 0 ? static_cast<int64_t>(mixHash(seed, at.size() + k) % static_cast<uint64_t>(n)) : 0);
            if (b.shapeOf(gradient) != a.shapeOf(from)) {
              told.before = shapeStr(from.shape()), told.after = shapeStr(gradient.shape());
              return false;
            }
            const auto right = expected(a, before, given, k, at);
            if (!right) continue;
            const double got = b.valueAt(gradient, at).front().asDouble();
            if (std::isfinite(got) &&
                std::abs(*right - got) > 1e-2 * std::max({1.0, std::abs(*right), std::abs(got)})) {
              told.before = std::to_string(*right), told.after = std::to_string(got);
              return false;
            }
          }
          return true;
        });
    if (c.verdict == ValueCheck::Verdict::Same) return c;
    if (out.verdict != ValueCheck::Verdict::Differs) out = c;
  }
  return out;
}

} // namespace uopscope
