// Finds sums of products of small numbers, and rewrites them for the dot products of a processor.
#include "engine/codegen/dot_products.h"

#include "engine/base/context_var.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/tensor_core_layout.h"
#include "engine/codegen/tensor_core_product.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace uopscope {

namespace {

constexpr int64_t kFewestSteps = 2;
constexpr TensorCore::Layout kPair{"", "e0"}, kPairOfLanes{"e0", ""}, kFour{"", "e0e1"},
    kFourOfLanes{"e0e1", ""}, kOne{"", ""};

/// Whether a core takes a value of this type. Bytes of either sign are made to fit.
bool takes(const TensorCore& core, DType d) {
  return core.in == d || (isByte(core.in) && isByte(d));
}

/// The small numbers that a sum multiplies, if the core takes them.
std::optional<std::pair<UOp, UOp>> operandsOf(const TensorCore& core, UOp sum) {
  if (core.in.isFloat() && vars::strictFloat) return {};
  if (sum.arg().op() != Op::ADD || sum.dtype() != core.out || !sum.src(0).is(Op::MUL)) return {};
  UOp a = narrowed(sum.src(0).src(0)), b = narrowed(sum.src(0).src(1));
  if (!a || !b || !takes(core, a.dtype()) || !takes(core, b.dtype())) return {};
  return std::pair(a, b);
}

/// The range whose results become neighbouring lanes: the last one that was made lanes, else that of results which lie side by
/// side in memory; null if there is neither.
UOp lanesOf(UOp sum, std::span<const UOp> stores) {
  if (UOp last = lastLanesOf(sum)) return last;
  for (UOp store : stores) {
    const UOp index = store.src(0).src(1);
    for (UOp r : index.ranges())
      if (coefficientOf(index, r) == 1) return r;
  }
  return {};
}

/// Whether the sum alone repeats the range.
bool isOnlyIn(UOp range, UOp sum, std::span<const UOp> sums) {
  return std::ranges::none_of(sums, [&](UOp other) { return other != sum && other.dependsOn(range); });
}

/// Terms of a step as lanes: the read at `term * n + k` for each k.
struct Fragment {
  UOp value, range;
};
Fragment fragment(UOp read, UOp term, UOp steps, int64_t n, int64_t& nextId) {
  const int64_t id = nextId++;
  UOp k = UOp::range(n, id, AxisType::Unroll);
  return {read.substitute({{term, steps * n + k}}), k};
}
UOp contracted(const Fragment& f) {
  const int64_t n = extentOf(f.range);
  return UOp::make(Op::CONTRACT, f.value.dtype().vec(static_cast<int>(n)), {f.value},
                   Arg::of(std::vector<int64_t>{f.range.arg().as<RangeArg>().ids[0], n}));
}
/// A byte of the other sign: 128 more as an unsigned one, 128 less as a signed one.
UOp otherSign(UOp byte) {
  const DType to = byte.dtype() == dtypes::int8 ? dtypes::uint8 : dtypes::int8;
  UOp bits = byte.dtype() == dtypes::uint8 ? byte : byte.bitcast(dtypes::uint8);
  return (bits ^ UOp::constant(dtypes::uint8, int64_t{128})).bitcast(to);
}

} // namespace

float withoutDenormal(float x) {
  return std::abs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0F, x) : x;
}

std::vector<TensorCore> dotProducts(bool ofBFloat16, bool ofBytes) {
  std::vector<TensorCore> cores;
  if (ofBFloat16)
    cores.push_back({"vdpbf16ps", dtypes::bfloat16, dtypes::float32, kPair, kPairOfLanes, kOne, 1});
  if (ofBytes) cores.push_back({"vpdpbusd", dtypes::int8, dtypes::int32, kFour, kFourOfLanes, kOne, 1});
  return cores;
}

bool isDotProduct(const TensorCore& core) {
  return core.threads == 1 && rowsOf(core) == 1 && columnsOf(core) == 1;
}
bool isDotProduct(UOp u) {
  if (!u.is(Op::WMMA) || u.arg().kind() != ArgKind::Wmma) return false;
  const WmmaArg& arg = u.arg().as<WmmaArg>();
  return arg.threads == 1 && arg.dims.size() == 3 && arg.dims[0] == 1 && arg.dims[1] == 1;
}
int64_t termsOfDot(UOp wmma) {
  return wmma.arg().as<WmmaArg>().dims[2];
}

ConstValue dotProduct(DType sum, std::span<const ConstValue> a, std::span<const ConstValue> b, ConstValue c) {
  if (sum.isInt()) {
    auto total = static_cast<uint32_t>(c.i);
    for (size_t k = 0; k < a.size(); ++k) total += static_cast<uint32_t>(a[k].i * b[k].i);
    return ConstValue::ofInt(static_cast<int32_t>(total));
  }
  // The later term first, each rounded once; numbers below the normal ones count as zero.
  float total = withoutDenormal(static_cast<float>(c.f));
  for (size_t k = a.size(); k-- > 0;)
    total = withoutDenormal(std::fma(withoutDenormal(static_cast<float>(a[k].f)),
                                     withoutDenormal(static_cast<float>(b[k].f)), total));
  return ConstValue::ofFloat(total);
}

UOp narrowed(UOp operand) {
  if (operand.is(Op::CAST)) return operand.src(0);
  if (!operand.is(Op::WHERE) || !operand.src(1).is(Op::CAST) || !operand.src(2).isConst(0.0)) return {};
  UOp number = operand.src(1).src(0);
  return operand.src(0).where(number, number.constLike(int64_t{0}));
}

bool suitsDotProducts(const Target& target, UOp sum) {
  return vars::tc && std::ranges::any_of(target.tensorCores, [&](const TensorCore& core) {
           return mayUse(target, core) && isDotProduct(core) && operandsOf(core, sum).has_value() &&
                  std::ranges::any_of(rangesIn(sum.src().subspan(1)),
                                      [&](UOp r) { return extentOf(r) >= kFewestSteps * termsOf(core); });
         });
}

std::vector<DotSum> dotSums(const Target& target, std::span<const UOp> sums, std::span<const UOp> stores) {
  std::vector<DotSum> found;
  for (const TensorCore& core : target.tensorCores) {
    if (!isDotProduct(core)) continue;
    for (UOp sum : sums) {
      const auto operands = operandsOf(core, sum);
      if (!operands) continue;
      auto [single, lanes] = *operands;
      if (!single.is(Op::INDEX) || !lanes.is(Op::INDEX)) continue;
      const UOp along = lanesOf(sum, stores);
      if (along && single.dependsOn(along) && !lanes.dependsOn(along)) std::swap(single, lanes);
      for (UOp term : rangesIn(sum.src().subspan(1))) {
        const int64_t extent = extentOf(term);
        const bool hasSteps = term.axisType() == AxisType::Unroll ? extent > 0 && extent % termsOf(core) == 0
                                                                  : extent >= kFewestSteps * termsOf(core);
        if (!hasSteps || !single.dependsOn(term) || !lanes.dependsOn(term) || !isOnlyIn(term, sum, sums))
          continue;
        // Where terms are lanes, it is better to change the sign of bytes that are read once than to sum them up.
        if (term.axisType() == AxisType::Unroll)
          found.push_back({&core, sum, lanes, single, term});
        else
          found.push_back({&core, sum, single, lanes, term});
      }
    }
  }
  return found;
}

namespace {

/// The sum of other terms over the ranges of `sum`, each a range of its own, or a given step.
UOp sumOf(UOp terms, UOp sum, UOpMap<UOp> steps, int64_t& nextId) {
  std::vector<UOp> over;
  for (UOp r : rangesIn(sum.src().subspan(1)))
    if (!steps.contains(r))
      over.push_back(steps[r] = UOp::range(r.src(0), {nextId++}, r.axisType(), r.dtype()));
  terms = terms.substitute(steps);
  return over.empty() ? terms : terms.reduce(Op::ADD, over);
}

} // namespace

UOp summedBySteps(UOp value, UOp sum, UOp term, UOp steps) {
  std::vector<UOp> over;
  for (UOp r : rangesIn(sum.src().subspan(1)))
    if (r != term)
      over.push_back(r);
    else if (steps.is(Op::RANGE))
      over.push_back(steps);
  return over.empty() ? value : value.reduce(Op::ADD, over);
}

UOp byDotProducts(const DotSum& dot, int64_t& nextId, const std::string& device) {
  const int64_t n = termsOf(*dot.core), steps = extentOf(dot.term) / n;
  UOp step = steps == 1 ? UOp::index(0) : dot.term.withSrc({UOp::constant(dot.term.dtype(), steps)});
  Fragment first = fragment(dot.single, dot.term, step, n, nextId),
           second = fragment(dot.lanes, dot.term, step, n, nextId);
  int64_t more = 0; // what each element of `lanes` has been multiplied by too often
  if (isByte(dot.core->in)) {
    if (dot.single.dtype() == dot.lanes.dtype()) {
      more = dot.single.dtype() == dtypes::int8 ? 128 : -128;
      first.value = otherSign(first.value);
    }
    if (first.value.dtype() == dtypes::int8) std::swap(first, second);
  }
  auto axis = [&](const Fragment& f) {
    return std::vector<std::pair<int64_t, int64_t>>{{f.range.arg().as<RangeArg>().ids[0], n}};
  };
  WmmaArg arg{
      dot.core->name, {1, 1, n}, dot.core->in, dot.core->out, device, 1, {axis(first), axis(second), {}}, {}};
  const DType out = dot.core->out;
  UOp zero = out.isFloat() ? UOp::constant(out, 0.0) : UOp::constant(out, int64_t{0});
  UOp sum = UOp::make(Op::WMMA, out, {contracted(first), contracted(second), zero, first.range, second.range},
                      Arg::of(arg));
  sum = summedBySteps(sum, dot.sum, dot.term, step);
  // The terms that fill no step, whose elements no dot product has multiplied.
  UOp left = dot.lanes.cast(out);
  for (int64_t k = steps * n; k < extentOf(dot.term); ++k) {
    const UOpMap<UOp> step{{dot.term, UOp::index(k)}};
    sum = sum + sumOf(dot.sum.src(0), dot.sum, step, nextId);
    if (more) sum = sum + sumOf(left, dot.sum, step, nextId) * more;
  }
  return more ? sum + sumOf(left, dot.sum, {}, nextId) * -more : sum;
}

} // namespace uopscope
