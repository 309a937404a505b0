// Evaluates both expressions step by step in one array of lanes.
#include "engine/prove/values.h"

#include "engine/base/error.h"
#include "engine/prove/solver.h"
#include "engine/uop/eval.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace uopscope::prove {

namespace {

bool smallFloat(DType d) {
  return d.isFloat() && d.itemsize() <= 2;
}
ConstValue floatOfBits(DType d, uint64_t bits) {
  DType holder = d.itemsize() == 1 ? dtypes::uint8 : dtypes::uint16;
  return evalAlu(Op::BITCAST, d, holder, {ConstValue::ofInt(static_cast<int64_t>(bits))});
}
std::pair<int64_t, int64_t> boundsOf(UOp leaf) {
  return {leaf.vmin(), std::max(leaf.vmin(), leaf.vmax())};
}

FloatGap gapOf(double a, double b) {
  if (std::isnan(a) && std::isnan(b)) return FloatGap::None;
  if (std::isnan(a) != std::isnan(b) || std::isinf(a) != std::isinf(b)) return FloatGap::Special;
  if (a == b) return std::signbit(a) == std::signbit(b) ? FloatGap::None : FloatGap::SignOfZero;
  return FloatGap::Rounding;
}

} // namespace

std::vector<ConstValue> valuesOf(UOp leaf, size_t count, uint64_t seed) {
  std::vector<ConstValue> out;
  DType d = leaf.dtype().scalar();
  std::mt19937_64 random(seed);
  if (d.isBool()) return {ConstValue::ofBool(false), ConstValue::ofBool(true)};
  if (smallFloat(d) && count >= (size_t{1} << d.bitsize())) {
    for (uint64_t bits = 0; bits < uint64_t{1} << d.bitsize(); ++bits) out.push_back(floatOfBits(d, bits));
    return out;
  }
  if (d.isFloat()) {
    static constexpr std::array kSpecial{0.0,   -0.0,   1.0,  -1.0,     0.5,       2.0,
                                         -3.25, 1024.0, 1e-3, HUGE_VAL, -HUGE_VAL, double(NAN),
                                         6e-8,  65504., 3e38, 1e-40,    1e300,     1.0 / 3};
    for (double v : kSpecial) out.push_back(ConstValue::ofFloat(dtypes::roundFloat(d, v)));
    while (out.size() < count) {
      uint64_t bits = random();
      if (smallFloat(d))
        out.push_back(floatOfBits(d, bits & ((uint64_t{1} << d.bitsize()) - 1)));
      else if (d.kind() == Scalar::Float32)
        out.push_back(ConstValue::ofFloat(std::bit_cast<float>(static_cast<uint32_t>(bits))));
      else
        out.push_back(ConstValue::ofFloat(std::bit_cast<double>(bits)));
    }
    return out;
  }
  auto [low, high] = boundsOf(leaf);
  auto width = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  if (d.kind() == Scalar::UInt64 && high == INT64_MAX) width = UINT64_MAX;
  if (width < count) {
    for (uint64_t k = 0; k <= width; ++k) out.push_back(ConstValue::ofInt(low + static_cast<int64_t>(k)));
    return out;
  }
  for (int64_t v :
       {low, high, low + 1, high - 1, int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{2}, int64_t{3}})
    if (v >= low && v <= high) out.push_back(ConstValue::ofInt(v));
  while (out.size() < count)
    out.push_back(ConstValue::ofInt(static_cast<int64_t>(
        static_cast<uint64_t>(low) + (width == UINT64_MAX ? random() : random() % (width + 1)))));
  return out;
}

Evaluator::Evaluator(UOp before, UOp after)
    : leaves_(leavesOf(before, after)), before_(before), after_(after) {
  place(before);
  place(after);
  size_t a = at_.contains(before) ? static_cast<size_t>(before.dtype().count()) : 0;
  ready_ = ready_ && a && before.dtype().count() == after.dtype().count() && !before.dtype().isVoid() &&
           !before.dtype().isPtr();
}

size_t Evaluator::place(UOp root) {
  for (UOp u : root.toposort()) {
    if (at_.contains(u) || !ready_) continue;
    bool computed = u.in(group::kElementwise | kLeaves | OpSet{Op::CONST, Op::VECTORIZE, Op::GEP, Op::CAT});
    if (!computed || u.dtype().isPtr() || u.dtype().isVoid() || (u.in(kLeaves) && u.dtype().count() != 1)) {
      ready_ = false;
      return 0;
    }
    Step s{u, {}, {}, slots_.size(), static_cast<size_t>(u.dtype().count()), {}};
    slots_.resize(s.to + s.count);
    at_[u] = s.to;
    divides_ |= u.in({Op::IDIV, Op::MOD});
    if (u.isConst()) {
      for (size_t l = 0; l < s.count; ++l) slots_[s.to + l] = u.constValue();
      continue;
    }
    if (u.in(kLeaves)) continue;
    for (UOp src : u.src()) {
      s.from.push_back(at_[src]);
      s.lanes.push_back(static_cast<size_t>(src.dtype().count()));
    }
    if (u.srcCount()) s.operand = u.src(u.is(Op::WHERE) ? 1 : 0).dtype();
    steps_.push_back(std::move(s));
  }
  return at_[root];
}

uint64_t Evaluator::domain(uint64_t most) const {
  uint64_t all = 1;
  for (UOp leaf : leaves_) {
    uint64_t n = most + 1;
    DType d = leaf.dtype().scalar();
    if (d.isBool())
      n = 2;
    else if (smallFloat(d))
      n = uint64_t{1} << d.bitsize();
    else if (!d.isFloat()) {
      auto [low, high] = boundsOf(leaf);
      auto width = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
      n = width >= most ? most + 1 : width + 1;
    }
    if (n > most || all * n > most) return most + 1;
    all *= n;
  }
  return all;
}

void Evaluator::run() {
  std::array<ConstValue, 3> v;
  for (const Step& s : steps_) {
    UOp u = s.node;
    if (u.in({Op::VECTORIZE, Op::CAT})) {
      size_t to = s.to;
      for (size_t i = 0; i < s.from.size(); ++i)
        for (size_t l = 0; l < s.lanes[i]; ++l) slots_[to++] = slots_[s.from[i] + l];
      continue;
    }
    for (size_t l = 0; l < s.count; ++l) {
      if (u.is(Op::GEP)) {
        slots_[s.to + l] = slots_[s.from[0] + static_cast<size_t>(u.arg().ints()[l])];
        continue;
      }
      for (size_t i = 0; i < s.from.size(); ++i) v[i] = slots_[s.from[i] + (s.lanes[i] == 1 ? 0 : l)];
      bool byZero = u.in({Op::IDIV, Op::MOD}) && !v[1].isInvalid() && v[1].i == 0;
      slots_[s.to + l] = byZero ? ConstValue::invalid()
                                : evalAlu(u.op(), u.dtype(), s.operand, std::span(v.data(), s.from.size()));
    }
  }
}

void Evaluator::set(const std::vector<ConstValue>& values) {
  for (size_t i = 0; i < leaves_.size(); ++i) slots_[at_.at(leaves_[i])] = values[i];
}

void Evaluator::compare(Difference& d, const std::vector<ConstValue>& values) const {
  ++d.tried;
  bool decidesAccess = before_.dtype().kind() == Scalar::Index && !divides_;
  size_t a = at_.at(before_), b = at_.at(after_);
  for (size_t l = 0; l < static_cast<size_t>(before_.dtype().count()); ++l) {
    const ConstValue &x = slots_[a + l], &y = slots_[b + l];
    FloatGap gap = FloatGap::None;
    bool differs = false;
    if (x.isInvalid())
      differs = decidesAccess && !y.isInvalid();
    else if (y.isInvalid())
      differs = true;
    else if (before_.dtype().isFloat())
      gap = gapOf(x.asDouble(), y.asDouble());
    else
      differs = x.i != y.i;
    if (!differs && gap <= d.gap) continue;
    if (d.differs && !differs) continue;
    d.differs |= differs || gap > FloatGap::SignOfZero;
    d.gap = std::max(d.gap, gap);
    d.at = values;
    d.before = x;
    d.after = y;
  }
}

Difference Evaluator::at(const std::vector<ConstValue>& values) {
  Difference d;
  set(values);
  run();
  compare(d, values);
  return d;
}

Difference Evaluator::exhaustively(uint64_t most) {
  Difference d;
  if (!ready_ || domain(most) > most) return d;
  std::vector<std::vector<ConstValue>> all;
  for (UOp leaf : leaves_) all.push_back(valuesOf(leaf, static_cast<size_t>(most) + 1, 0));
  std::vector<size_t> digit(leaves_.size(), 0);
  std::vector<ConstValue> values(leaves_.size());
  for (;;) {
    for (size_t i = 0; i < digit.size(); ++i) values[i] = all[i][digit[i]];
    set(values);
    run();
    compare(d, values);
    if (d.differs && !before_.dtype().isFloat()) return d;
    size_t i = 0;
    while (i < digit.size() && ++digit[i] == all[i].size()) digit[i++] = 0;
    if (i == digit.size()) break;
  }
  d.complete = true;
  return d;
}

Difference Evaluator::sampled(uint64_t count, uint64_t seed) {
  Difference d;
  if (!ready_) return d;
  size_t each = leaves_.size() < 2 ? static_cast<size_t>(count) : leaves_.size() == 2 ? 40 : 12;
  std::vector<std::vector<ConstValue>> all;
  for (size_t i = 0; i < leaves_.size(); ++i) all.push_back(valuesOf(leaves_[i], each, seed + i));
  std::mt19937_64 random(seed);
  std::vector<ConstValue> values(leaves_.size());
  uint64_t combinations = 1;
  for (const auto& v : all) combinations = std::min<uint64_t>(combinations * v.size(), count + 1);
  for (uint64_t n = 0; n < std::min(count, combinations); ++n) {
    uint64_t rest = combinations <= count ? n : random();
    for (size_t i = 0; i < all.size(); ++i) {
      values[i] = all[i][rest % all[i].size()];
      rest /= all[i].size();
    }
    set(values);
    run();
    compare(d, values);
    if (d.differs && !before_.dtype().isFloat()) return d;
  }
  return d;
}

} // namespace uopscope::prove
