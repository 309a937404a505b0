// Sorting by a bitonic network. A position is a number of bits, each an axis of two: an exchange compares the two halves
// of one axis, in an order that a second axis turns round. Exchanges that need few axes are one kernel: it reads what
// they exchange once, 16 values a lane.
//
//   sort    runs of 2, 4, 8 ... elements, neighbouring runs in opposite orders, until one run is left
//   top-k   runs as long as k; of two runs in opposite orders the first of each pair of elements are the first of both:
//           half of the remaining runs, until one is left. Of many elements, those in the k groups whose first ones come first:
//           of 4,096 and k = 8, 256 groups of 16 give 8, and these 128 elements
//
// A NaN is larger than any number. Positions are sorted along with keys, by a network of their own; of equal values the
// first comes first. The exchanges of values do not say which of two equal elements went where, so that network has no
// derivative of its own: a result has the tangent of the element at its position, and so its gradient goes there.
#include "engine/base/engine_session.h"
#include "engine/runtime/device.h"
#include "engine/tensor/gradient.h"
#include "engine/tensor/state.h"
#include "engine/tensor/tensor.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

namespace uopscope {

namespace {

/// An element: its value, or its key and its position.
using Record = std::vector<Tensor>;

constexpr size_t kMostAxes = 4; ///< of one kernel: 16 elements a lane
constexpr int64_t kLanes = 16;  ///< elements side by side that are enough for vectors
constexpr size_t kNone = SIZE_MAX;

int bitLength(int64_t v) {
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(v)));
}

/// One step of the network on a whole axis.
struct Step {
  size_t axis;      ///< of the pair
  size_t direction; ///< where its step is 1 the order is the other one; kNone: the order is the result's
  bool keepsHalf;   ///< of each pair the first one stays, and the axis is gone
  bool uses(size_t a) const { return a == axis || a == direction; }
};

/// The steps that leave the first 2^wires of 2^bits elements in order. Axes are numbered from `first` on, the highest
/// bit first; the wires of a run are the highest.
std::vector<Step> stepsOf(size_t first, int bits, int wires) {
  std::vector<Step> steps;
  auto wire = [&](int bit) { return first + static_cast<size_t>(wires - 1 - bit); };
  auto run = [&](int at) { return at < bits ? first + static_cast<size_t>(at) : kNone; };
  auto merge = [&](int stage, size_t direction) {
    for (int bit = stage - 1; bit >= 0; --bit) steps.push_back({wire(bit), direction, false});
  };
  for (int stage = 1; stage <= wires; ++stage) merge(stage, stage < wires ? wire(stage) : run(wires));
  for (int at = wires; at < bits; ++at) {
    steps.push_back({run(at), kNone, true});
    merge(wires, run(at + 1));
  }
  return steps;
}

/// A network at work on all elements.
class Network {
public:
  Network(Record all, std::vector<Step> steps, bool largestFirst)
      : all_(std::move(all)), steps_(std::move(steps)), largestFirst_(largestFirst),
        memory_(all_[0].shape().size()) {
    std::iota(memory_.begin(), memory_.end(), 0);
  }

  Record run() {
    for (size_t from = 0, to = 0; from < steps_.size(); from = to) {
      std::vector<size_t> axes;
      for (; to < steps_.size(); ++to) {
        std::vector<size_t> more = axes;
        for (size_t a : {steps_[to].axis, steps_[to].direction})
          if (a != kNone && std::find(more.begin(), more.end(), a) == more.end()) more.push_back(a);
        if (more.size() > kMostAxes) break;
        axes = more;
      }
      std::sort(axes.begin(), axes.end());
      arrange(from, axes);
      together(std::span(steps_).subspan(from, to - from), axes);
    }
    return all_;
  }

private:
  /// Whether the second of a pair comes before the first, in ascending order.
  static Tensor isSwapped(const Record& a, const Record& b) {
    Tensor less = b[0].lt(a[0]);
    if (a.size() == 2) return less.bitOr(b[0].eq(a[0]).bitAnd(b[1].lt(a[1])));
    return a[0].isFloat() ? less.bitOr(a[0].ne(a[0])) : less;
  }

  /// Elements that lie side by side in memory and go through the same steps.
  int64_t lanes(const std::vector<size_t>& order, const std::vector<size_t>& axes) const {
    int64_t n = 1;
    for (size_t i = order.size(); i-- > 0 && n < kLanes;) {
      const Sint& size = all_[0].shape()[order[i]];
      if (std::find(axes.begin(), axes.end(), order[i]) != axes.end() || !size.isInt()) break;
      n *= size.i();
    }
    return std::min(n, kLanes);
  }

  /// Puts axes into another order in memory where too few elements lie side by side: those used last are innermost.
  void arrange(size_t from, const std::vector<size_t>& axes) {
    if (lanes(memory_, axes) == kLanes) return;
    auto nextUse = [&](size_t a) {
      size_t at = from;
      while (at < steps_.size() && !steps_[at].uses(a)) ++at;
      return at;
    };
    std::vector<size_t> byUse = memory_, order;
    std::stable_sort(byUse.begin(), byUse.end(), [&](size_t a, size_t b) { return nextUse(a) < nextUse(b); });
    auto inner = byUse.end();
    for (int64_t n = 1; inner != byUse.begin() && n < kLanes;) {
      const Sint& size = all_[0].shape()[*--inner];
      n *= size.isInt() ? size.i() : kLanes;
    }
    for (bool isInner : {false, true})
      for (size_t a : memory_)
        if ((std::find(inner, byUse.end(), a) != byUse.end()) == isInner) order.push_back(a);
    if (lanes(memory_, axes) >= lanes(order, axes)) return;
    memory_ = order;
    for (Tensor& t : all_) t = inMemory(t);
  }
  Tensor inMemory(const Tensor& t) const {
    Ints there, back(memory_.size());
    for (size_t i = 0; i < memory_.size(); ++i) {
      there.push_back(static_cast<int64_t>(memory_[i]));
      back[memory_[i]] = static_cast<int64_t>(i);
    }
    return t.permute(there).contiguous().permute(back);
  }

  /// Steps that use these axes alone, on elements that are apart along them.
  void together(std::span<const Step> steps, const std::vector<size_t>& axes) {
    std::vector<Record> parts(size_t{1} << axes.size());
    for (size_t p = 0; p < parts.size(); ++p)
      for (const Tensor& t : all_) {
        std::vector<std::optional<std::pair<Sint, Sint>>> cut(t.shape().size());
        for (size_t i = 0; i < axes.size(); ++i)
          cut[axes[i]] = {Sint(static_cast<int64_t>(p >> i & 1)), Sint(static_cast<int64_t>(p >> i & 1) + 1)};
        parts[p].push_back(t.shrink(cut));
      }
    for (const Step& step : steps) {
      size_t along = placeOf(axes, step.axis), turned = placeOf(axes, step.direction);
      for (size_t p = 0; p < parts.size(); ++p)
        if (!(p >> along & 1) && !parts[p].empty())
          exchange(parts[p], parts[p | size_t{1} << along], turned != kNone && (p >> turned & 1),
                   step.keepsHalf);
    }
    for (size_t i = axes.size(); i-- > 0;)
      for (size_t p = 0; p < size_t{1} << i; ++p) {
        const Record& other = parts[p | size_t{1} << i];
        for (size_t t = 0; t < other.size(); ++t)
          parts[p][t] = Tensor::cat({parts[p][t], other[t]}, static_cast<int64_t>(axes[i]));
      }
    for (size_t t = 0; t < all_.size(); ++t) all_[t] = inMemory(parts[0][t]);
  }

  void exchange(Record& a, Record& b, bool turned, bool keepsHalf) const {
    Tensor swapped = isSwapped(a, b);
    Record low, high;
    bool largeFirst = largestFirst_ != turned;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!keepsHalf || !largeFirst) low.push_back(swapped.where(b[i], a[i]));
      if (!keepsHalf || largeFirst) high.push_back(swapped.where(a[i], b[i]));
    }
    a = largeFirst ? high : low;
    b = keepsHalf ? Record{} : largeFirst ? low : high;
  }

  static size_t placeOf(const std::vector<size_t>& axes, size_t axis) {
    auto at = std::find(axes.begin(), axes.end(), axis);
    return at == axes.end() ? kNone : static_cast<size_t>(at - axes.begin());
  }

  Record all_;
  std::vector<Step> steps_;
  bool largestFirst_;
  std::vector<size_t> memory_; ///< axes in their order in memory
};

/// Integers in the order of the values, NaNs being one value, and so are both zeros; `descending`: in the other order.
Tensor orderKey(const Tensor& x, bool descending) {
  Tensor key = x.detach();
  if (x.isFloat()) {
    int64_t bytes = x.dtype().itemsize();
    DType type = bytes == 1   ? dtypes::int8
                 : bytes == 2 ? dtypes::int16
                 : bytes == 4 ? dtypes::int32
                              : dtypes::int64;
    auto most = ConstValue::ofInt(static_cast<int64_t>(dtypes::maxInt(type)));
    Tensor bits = key.bitcast(type); // sign and size: of negative numbers the size counts down
    Tensor ordered = bits.lt(0).where(bits.bitXor(most), bits);
    key = key.ne(key).where(most, key.eq(0).where(0, ordered));
  }
  return descending ? key.bitNot() : key;
}

/// Whether a key and a position are one 64-bit number: the network then compares and moves half as many values. A GPU
/// computes with two numbers faster, or has no others.
bool fitsOneNumber(const Tensor& key) {
  return key.dtype().itemsize() <= 4 && !Device::get(key.devices()[0]).renderer().target().hasLocal;
}

/// The keys of the derivatives, by the axis that is sorted. Equal sorts are equal graphs.
struct SortKeys {
  SortKeys() { tensorPool(); } // makes the pool of these nodes first, so it outlives them
  std::map<size_t, UOpRef> byAxis;
};

/// The sorted values, with the derivative of `source` read at the positions.
Tensor derivedByPosition(const Tensor& values, const Tensor& source, const Tensor& positions, size_t d) {
  UOpRef& key = EngineSession::current().part<SortKeys>().byAxis[d];
  if (!key.get()) {
    key = newUnique();
    auto gathered = [axis = static_cast<int64_t>(d)](const std::vector<UOp>& tangents, UOp node) {
      if (!tangents[0]) return UOp();
      return Tensor::fromUOp(tangents[0]).gather(axis, Tensor::fromUOp(node.src(2))).uop();
    };
    setCustomDerivative(key, {.reverse = {}, .forward = gathered});
  }
  std::vector<UOp> inputs{source.uop(), positions.uop()};
  return Tensor::fromUOp(withDerivative(values.uop(), inputs, key), source.requiresGrad());
}

/// The last members of the first `k` records along an axis, by the network; `last` comes behind all records.
Tensor firstByNetwork(Record record, const std::vector<ConstValue>& last, size_t d, int64_t k,
                      bool largestFirst) {
  const int64_t n = record[0].intDim(d);
  const int bits = bitLength(n - 1), wires = bitLength(k - 1);
  Bounds grow(record[0].shape().size(), {0, 0});
  grow[d] = {0, Sint((int64_t{1} << bits) - n)};
  const auto axis = static_cast<int64_t>(d);
  for (size_t i = 0; i < record.size(); ++i)
    record[i] = record[i].pad(grow, last[i]).unflatten(axis, Shape(static_cast<size_t>(bits), Sint(2)));
  std::vector<std::optional<Sint>> cut(grow.size());
  cut[d] = Sint(k);
  return Network(std::move(record), stepsOf(d, bits, wires), largestFirst)
      .run()
      .back()
      .flatten(axis, axis + bits - 1)
      .shrinkTo(cut);
}

/// 0, 1 ... n-1 along an axis, of a shape that is 1 elsewhere.
Tensor numbersAlong(const Tensor& like, size_t d, int64_t n) {
  Shape column(like.shape().size(), Sint(1));
  column[d] = Sint(n);
  return Tensor::arange(n, {like.device(), dtypes::int32, {}}).reshape(column);
}

/// The positions that belong to the `k` smallest keys, below `span`, a power of two; equal keys are in the order of positions.
Tensor positionsByNetwork(const Tensor& key, const Tensor& positions, int64_t span, size_t d, int64_t k) {
  if (!fitsOneNumber(key))
    return firstByNetwork({key, positions}, {dtypeMax(key.dtype()), ConstValue::ofInt(span - 1)}, d, k,
                          false);
  Tensor both = key.cast(dtypes::int64).mul(span).add(positions.cast(dtypes::int64));
  return firstByNetwork({both}, {dtypeMax(dtypes::int64)}, d, k, false).bitAnd(span - 1).cast(dtypes::int32);
}

constexpr int64_t kGroups = 32; ///< runs from which on groups are looked at first
constexpr int64_t kFound =
    128; ///< runs from which on values are read at their positions, once these are found

/// Elements for each one that is kept, whose number is raised to a power of two.
int64_t runsOf(int64_t n, int64_t k) {
  return n >> bitLength(k - 1);
}

/// The positions of the `k` smallest keys along an axis. Of many keys they are in the k groups with the smallest ones, which
/// are found first: with groups of sqrt(n/k) keys that leaves 2 sqrt(nk) of n for the network.
Tensor positionsOfFirst(const Tensor& key, size_t d, int64_t k) {
  const int64_t n = key.intDim(d);
  const auto axis = static_cast<int64_t>(d);
  if (runsOf(n, k) < kGroups) {
    Tensor positions = numbersAlong(key, d, n).expand(key.shape());
    return positionsByNetwork(key, positions, int64_t{1} << bitLength(n - 1), d, k);
  }
  const int64_t size = int64_t{1} << (bitLength(runsOf(n, k)) / 2), groups = (n + size - 1) / size;
  Bounds grow(key.shape().size(), {0, 0});
  grow[d] = {0, Sint(groups * size - n)};
  Tensor cells = key.pad(grow, dtypeMax(key.dtype())).unflatten(axis, {Sint(groups), Sint(size)});
  Tensor first = positionsOfFirst(cells.min(Ints{axis + 1}).contiguous(), d, k).contiguous();
  Shape wide = cells.shape();
  wide[d] = Sint(k);
  Tensor group = first.unsqueeze(axis + 1).expand(wide);
  Tensor positions = group.mul(size).add(numbersAlong(group, d + 1, size));
  return positionsByNetwork(cells.gather(axis, group).flatten(axis, axis + 1),
                            positions.flatten(axis, axis + 1), int64_t{1} << bitLength(groups * size - 1), d,
                            k);
}

/// The first `k` of an axis in order, and where they came from.
std::pair<Tensor, Tensor> firstInOrder(const Tensor& all, size_t d, int64_t k, bool descending) {
  Tensor source = all.contiguous(); // computed once
  Tensor positions = positionsOfFirst(orderKey(source, descending), d, k).cast(dtypes::defaultInt());
  if (runsOf(all.intDim(d), k) >= kFound)
    return {source.gather(static_cast<int64_t>(d), positions), positions};
  // A network of values alone takes half the time of one that finds positions.
  ConstValue last = descending      ? dtypeMin(all.dtype())
                    : all.isFloat() ? ConstValue::ofFloat(NAN)
                                    : dtypeMax(all.dtype());
  Tensor values = firstByNetwork({source}, {last}, d, k, descending);
  return {all.isFloat() ? derivedByPosition(values, source, positions, d) : values, positions};
}

} // namespace

std::pair<Tensor, Tensor> Tensor::sort(int64_t dim, bool descending) const {
  OperationScope op("sort");
  int64_t d = resolveDim(dim), n = ndim() ? intDim(static_cast<size_t>(d)) : 1;
  if (n <= 1) return {*this, fullLike(ConstValue::ofInt(0), {{}, dtypes::defaultInt(), {}})};
  return firstInOrder(*this, static_cast<size_t>(d), n, descending);
}

std::pair<Tensor, Tensor> Tensor::topk(int64_t k, int64_t dim, bool largest) const {
  OperationScope op("topk");
  size_t at = resolveAxis(dim);
  int64_t n = intDim(at);
  if (k > n) fail(ErrorKind::Value, fmt::format("selected index k={} is out of range", k));
  if (n > 1 && k > 0) return firstInOrder(*this, at, k, largest);
  auto [values, positions] = sort(dim, largest);
  std::vector<std::optional<Sint>> cut(shape().size());
  cut[at] = Sint(k);
  return {values.shrinkTo(cut), positions.shrinkTo(cut)};
}

} // namespace uopscope
