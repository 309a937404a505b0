// Recurrences in parts, and their derivatives: the derivative of a recurrence is another one.
#include "engine/tensor/recurrence.h"

#include "engine/base/engine_session.h"
#include "engine/tensor/gradient.h"
#include "engine/tensor/graph.h"
#include "engine/uop/unique.h"

#include <map>

namespace uopscope {

namespace {

constexpr int64_t kPart = 8; ///< states that one lane computes one after the other

/// How a state goes on: multiplied by a factor, or kept or dropped.
struct Multiplied {
  static Tensor of(const Tensor& factor, const Tensor& state) { return factor.mul(state); }
  static Tensor joined(const Tensor& a, const Tensor& b) { return a.mul(b); }
};
struct Switches {
  static Tensor of(const Tensor& goesOn, const Tensor& state) {
    return goesOn.where(state, state.fullLike(ConstValue::ofFloat(0)));
  }
  static Tensor joined(const Tensor& a, const Tensor& b) { return a.bitAnd(b); }
};

/// Elements from `begin` on along an axis.
Tensor cut(const Tensor& t, int64_t axis, int64_t begin, int64_t count) {
  std::vector<std::optional<std::pair<Sint, Sint>>> where(t.shape().size());
  where[static_cast<size_t>(axis)] = {Sint(begin), Sint(begin + count)};
  return t.shrink(where);
}
Tensor grown(const Tensor& t, int64_t axis, int64_t before, int64_t behind) {
  Bounds amounts(t.shape().size(), {0, 0});
  amounts[static_cast<size_t>(axis)] = {Sint(before), Sint(behind)};
  return t.pad(amounts);
}
Tensor moved(const Tensor& t, int64_t from, int64_t to) {
  Ints order;
  for (int64_t k = 0; k < t.ndim(); ++k)
    if (k != from) order.push_back(k);
  order.insert(order.begin() + to, from);
  return t.permute(order);
}
/// Every element one step later, behind a zero.
Tensor shifted(const Tensor& t, int64_t axis) {
  return grown(t, axis, 1, -1);
}

/// A recurrence of many parts at once: what one step of all parts reads lies side by side.
template <class How>
struct InParts {
  Tensor a, b;  ///< a is zero, or false, for the first state
  int64_t step; ///< the axis of the steps of a part

  Tensor at(const Tensor& t, int64_t k) const { return cut(t, step, k, 1); }
  int64_t steps() const { return b.intDim(static_cast<size_t>(step)); }

  /// The last state of each part, begun with nothing, and what becomes of a state before the part.
  std::pair<Tensor, Tensor> ends() const {
    Tensor state = at(b, 0), joined = at(a, 0);
    for (int64_t k = 1; k < steps(); ++k) {
      state = How::of(at(a, k), state).add(at(b, k));
      joined = How::joined(at(a, k), joined);
    }
    return {joined.squeeze(step), state.squeeze(step)};
  }
  /// All states of all parts, each of which goes on from its state in `before`.
  Tensor states(const Tensor& before) const {
    std::vector<Tensor> all;
    Tensor state = before.unsqueeze(step);
    for (int64_t k = 0; k < steps(); ++k) all.push_back(state = How::of(at(a, k), state).add(at(b, k)));
    return Tensor::cat(all, step);
  }
};

/// Along the first axis: rows are lanes.
template <class How>
Tensor alongFirst(const Tensor& a, const Tensor& b) {
  const int64_t n = b.intDim(0), parts = (n + kPart - 1) / kPart;
  auto apart = [&](const Tensor& t) {
    return grown(t, 0, 0, parts * kPart - n).unflatten(0, {Sint(parts), Sint(kPart)});
  };
  InParts<How> run{apart(a), apart(b), 1};
  auto [joined, last] = run.ends();
  Tensor ends = parts == 1 ? last : alongFirst<How>(joined, last);
  return cut(run.states(shifted(ends, 0)).flatten(0, 1), 0, 0, n);
}

/// Along the last axis, where there are few rows: parts are lanes, so the steps of a part are the first axis in memory.
template <class How>
Tensor alongLast(const Tensor& a, const Tensor& b) {
  const int64_t n = b.intShape().back(), parts = (n + kPart - 1) / kPart, last = b.ndim() - 1;
  auto apart = [&](const Tensor& t) {
    Tensor cells = grown(t, last, 0, parts * kPart - n).unflatten(-1, {Sint(parts), Sint(kPart)});
    return moved(cells, last + 1, 0).contiguous();
  };
  InParts<How> run{apart(a), apart(b), 0};
  auto [joined, end] = run.ends();
  Tensor ends = parts == 1 ? end : alongLast<How>(joined, end);
  return cut(moved(run.states(shifted(ends, last)), 0, last + 1).flatten(-2), last, 0, n);
}

/// Where states come from: the one before, or the one behind.
enum class From : uint8_t { Before, Behind };

/// Factors with the one that leads to a state at that state's place, in the order in which states follow. Nothing comes before
/// the first state, not even 0 * inf.
Tensor leading(const Tensor& a, int64_t axis, From from) {
  const int64_t n = a.intDim(static_cast<size_t>(axis));
  return from == From::Behind ? shifted(a.flip({axis}), axis) : grown(cut(a, axis, 1, n - 1), axis, 1, 0);
}

template <class How>
Tensor states(const Tensor& factors, const Tensor& terms, From from) {
  const int64_t last = terms.ndim() - 1;
  auto turned = [&](const Tensor& t, int64_t axis) { return from == From::Behind ? t.flip({axis}) : t; };
  if (!goesAlongFirst(terms))
    return turned(alongLast<How>(leading(factors, last, from), turned(terms, last)), last);
  // Rows are turned round where they lie side by side: a reversed axis is not transposed by tiles.
  Tensor a = moved(factors, last, 0).contiguous(), b = moved(terms, last, 0).contiguous();
  Tensor found = turned(alongFirst<How>(leading(a, 0, from), turned(b, 0)), 0);
  return moved(from == From::Behind ? found.contiguous() : found, 0, last);
}

struct RecurrenceKeys {
  RecurrenceKeys() { tensorPool(); } // makes the pool of these nodes first, so it outlives them
  std::map<std::pair<bool, From>, UOpRef> of;
};

Tensor recurrence(const Tensor& a, const Tensor& b, From from);

/// What comes next to each element of s: its state before, or behind.
Tensor neighbours(const Tensor& s, From from) {
  const int64_t last = s.ndim() - 1;
  return from == From::Before ? shifted(s, last) : grown(s, last, -1, 1);
}

/// ds[i] = a[i] ds[i-1] + (da[i] s[i-1] + db[i]): the derivative of a recurrence is another one.
UOp tangent(const std::vector<UOp>& tangents, UOp node, From from) {
  Tensor a = Tensor::fromUOp(node.src(1)), b = Tensor::fromUOp(node.src(2));
  const bool switches = a.dtype() == dtypes::bool_;
  if (!tangents[1] && (switches || !tangents[0])) return {};
  Tensor terms = tangents[1] ? Tensor::fromUOp(tangents[1]) : b.fullLike(ConstValue::ofFloat(0));
  if (!switches && tangents[0]) {
    Tensor da = Tensor::fromUOp(tangents[0]), s = Tensor::fromUOp(node).contiguous();
    terms = terms.add(from == From::Before ? da.mul(neighbours(s, from)) : neighbours(da.mul(s), from));
  }
  return recurrence(a, terms, from).uop();
}
/// The gradient of a term is what goes on from its state, in the other direction.
std::vector<UOp> gradients(UOp grad, UOp node, From from) {
  Tensor a = Tensor::fromUOp(node.src(1));
  const From other = from == From::Before ? From::Behind : From::Before;
  Tensor onward = recurrence(a, Tensor::fromUOp(grad), other);
  if (a.dtype() == dtypes::bool_) return {UOp(), onward.uop()};
  Tensor s = Tensor::fromUOp(node).contiguous();
  Tensor ofFactor = from == From::Before ? onward.mul(neighbours(s, from)) : neighbours(onward, other).mul(s);
  return {ofFactor.uop(), onward.uop()};
}

Tensor recurrence(const Tensor& a, const Tensor& b, From from) {
  const bool switches = a.dtype() == dtypes::bool_;
  UOpRef& key = EngineSession::current().part<RecurrenceKeys>().of[{switches, from}];
  if (!key.get()) {
    key = newUnique();
    setCustomDerivative(
        key, {.reverse = [from](UOp grad, UOp node) { return gradients(grad, node, from); },
              .forward = [from](const auto& tangents, UOp node) { return tangent(tangents, node, from); }});
  }
  Tensor value = switches ? states<Switches>(a, b, from) : states<Multiplied>(a, b, from);
  std::vector<UOp> inputs{a.uop(), b.uop()};
  return Tensor::fromUOp(withDerivative(value.uop(), inputs, key));
}

} // namespace

bool goesAlongFirst(const Tensor& t) {
  constexpr int64_t kRows = 16;
  return prod(t.shape()).i() >= kRows * t.intShape().back();
}
Tensor asRecurrencesRead(const Tensor& t) {
  const int64_t last = t.ndim() - 1;
  return goesAlongFirst(t) ? moved(moved(t, last, 0).contiguous(), 0, last) : t;
}

Tensor linearRecurrence(const Tensor& factors, const Tensor& terms) {
  return recurrence(factors, terms, From::Before);
}

Tensor segmentSums(const Tensor& continues, const Tensor& terms) {
  return recurrence(continues, terms, From::Before);
}

} // namespace uopscope
