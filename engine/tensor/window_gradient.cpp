// Reads off indices how products see the source of an EXPAND, and writes the gradient as one sum.
#include "engine/tensor/window_gradient.h"

#include "engine/rules/algebra.h"
#include "engine/rules/movement_index.h"
#include "engine/tensor/tensor.h"

#include <algorithm>
#include <optional>

namespace uopscope {

namespace {

/// A convolution of the gradient reads margins and, with a stride, parts of filters that are zero: so many times the
/// products of the sums one after the other it may take, since it stores none of them. An element that those store takes as
/// long as some 80 products more, so of few channels it may take more.
constexpr double kMostProducts = 1.5, kMostProductsOfFew = 2.5, kWorthStored = 80;
/// Where windows do not overlap, each element is the product of one filter, and no sum of windows follows.
constexpr double kFewestWindows = 1.5;
constexpr int kMostOperations = 64;   ///< that are looked through for what a value depends on
constexpr size_t kMostLeaves = 16;    ///< products that read one value
constexpr size_t kMostMovements = 64; ///< up to a product; windows of three axes are some ten

/// A factor of a product that is read through windows: movement operations up to it.
struct Leaf {
  UOp product;
  size_t side = 0;
  std::vector<UOp> movements; ///< the last one first, the operation whose source has the gradient last
};

/// How axes of the product read an axis of the source: at place * stride + step * dilation (-1: no such axis), or, if plain, as
/// the same axis, which may be cut in two, place and step. `margin` elements of a padding precede the source.
struct Reading {
  int64_t place = -1, step = -1, stride = 1, dilation = 1, margin = 0;
  bool isPlain = false;
  bool isWindow() const { return place >= 0 && !isPlain; }
};

/// The products that read `u`; false if something else does.
bool findLeaves(UOp u, const MovementUsers& users, std::vector<UOp>& movements, std::vector<Leaf>& leaves) {
  movements.push_back(u);
  auto readers = users.find(u);
  bool found = leaves.size() <= kMostLeaves && movements.size() <= kMostMovements;
  for (UOp reader : readers == users.end() ? std::vector<UOp>{} : readers->second) {
    if (!found) break;
    if (!reader.is(Op::MUL)) {
      found = reader.in(group::kMovement) && findLeaves(reader, users, movements, leaves);
      continue;
    }
    leaves.push_back({reader, reader.src(0) == u ? size_t{0} : size_t{1}, movements});
    std::reverse(leaves.back().movements.begin(), leaves.back().movements.end());
  }
  movements.pop_back();
  return found;
}

/// Marks the axes that a value at these indices depends on. Ranges have the numbers of axes.
void markAxes(UOp u, std::vector<UOp> at, std::vector<bool>& used, int& budget) {
  auto mark = [&](const std::vector<UOp>& indices) {
    for (UOp index : indices)
      for (UOp n : index.toposort())
        if (n.is(Op::RANGE)) used[static_cast<size_t>(n.arg().as<RangeArg>().ids[0])] = true;
  };
  while (u.in(group::kMovement) && --budget > 0) {
    for (size_t k = 0; u.is(Op::PAD) && k < at.size(); ++k)
      if (!(u.shape()[k] == u.src(0).shape()[k])) mark({at[k]}); // where it is zero
    at = movementIndices(u, at);
    u = u.src(0);
  }
  if (!u.in(group::kElementwise) || budget <= 0) return mark(at);
  --budget;
  for (UOp s : u.src())
    if (!s.shape().empty()) markAxes(s, at, used, budget);
}

std::vector<bool> axesOf(UOp u, const std::vector<UOp>& at) {
  std::vector<bool> used(at.size());
  int budget = kMostOperations;
  markAxes(u, at, used, budget);
  return used;
}

bool isIntAxis(const Shape& shape, int64_t axis) {
  return shape[static_cast<size_t>(axis)].isInt();
}

/// One convolution, seen from its product.
class Convolution {
public:
  Convolution(const Leaf& leaf, UOp gradient)
      : source_(leaf.movements.back().src(0)), gradient_(gradient), filter_(leaf.product.src(1 - leaf.side)),
        shape_(leaf.product.shape()), taken_(shape_.size()) {
    for (size_t k = 0; k < shape_.size(); ++k)
      at_.push_back(graph::isInt(shape_[k], 1) ? UOp::index(0)
                                               : UOp::range(shape_[k].uop(), {static_cast<int64_t>(k)}));
    index_ = at_;
    for (UOp m : leaf.movements) {
      index_ = movementIndices(m, index_);
      for (UOp& i : index_) i = simplify(ungate(i).index); // of gates, refusal() lets pass those of the last
    }
  }

  /// Finds how each axis is read; the reason if this is no convolution.
  const char* read() {
    ofGradient_ = axesOf(gradient_, at_), ofFilter_ = axesOf(filter_, at_);
    bool overlap = false;
    for (size_t k = 0; k < index_.size(); ++k) {
      if (const char* why = readAxis(k)) return why;
      const Reading& r = readings_.back();
      for (int64_t axis : {r.place, r.step}) {
        if (axis < 0) continue;
        if (taken_[static_cast<size_t>(axis)]) return "two axes of the source are read by one";
        taken_[static_cast<size_t>(axis)] = true;
      }
      if (r.isWindow() && insideOf(r, k).first >= insideOf(r, k).second)
        return "windows do not reach the source";
      overlap |= r.isWindow() && r.step >= 0;
    }
    return overlap ? nullptr : "no windows that overlap";
  }

  /// Products of the one sum, over those of the sums one after the other.
  double products() const {
    double ratio = 1;
    for (size_t k = 0; k < readings_.size(); ++k) {
      const Reading& r = readings_[k];
      if (r.isWindow())
        ratio *= static_cast<double>(source_.shape()[k].i() * tapsOf(r)) /
                 static_cast<double>(extent(r.place) * extent(r.step));
    }
    return ratio;
  }

  /// The terms of a sum that belong to no window.
  double channels() const {
    double all = 1;
    for (size_t k = 0; k < taken_.size(); ++k)
      if (!taken_[k]) all *= static_cast<double>(shape_[k].vmax());
    return all;
  }

  /// Whether enough windows hold an element, on average, or there is no stride.
  bool isWorthPhases() const {
    double windows = 1;
    bool strided = false;
    for (const Reading& r : readings_)
      if (r.isWindow()) {
        windows *= static_cast<double>(extent(r.step)) / static_cast<double>(r.stride);
        strided |= r.stride > 1;
      }
    return !strided || windows >= kFewestWindows;
  }

  UOp write() const;

private:
  int64_t extent(int64_t axis) const { return axis < 0 ? 1 : shape_[static_cast<size_t>(axis)].i(); }
  int64_t tapsOf(const Reading& r) const { return (extent(r.step) + r.stride - 1) / r.stride; }
  /// The windows of the gradient that hold elements of the source: [first, second), each `stride` elements. Without a padding they
  /// begin with the window that holds the first place alone.
  std::pair<int64_t, int64_t> insideOf(const Reading& r, size_t axis) const {
    const int64_t all = extent(r.place) + r.dilation * (tapsOf(r) - 1),
                  end = r.margin + source_.shape()[axis].i();
    return {r.margin / r.stride, std::min(all, (end + r.stride - 1) / r.stride)};
  }
  const char* readAxis(size_t k);
  Tensor filter(const Ints& kept, const Ints& summed) const;
  Tensor windows(const Ints& kept, const Ints& summed) const;
  Tensor ordered(UOp u, int64_t Reading::* gone, const Ints& first, const Ints& then, int64_t Reading::* last,
                 bool placesBetween) const;

  UOp source_, gradient_, filter_;
  Shape shape_; ///< of the product
  std::vector<UOp> at_, index_;
  std::vector<bool> taken_, ofGradient_, ofFilter_;
  std::vector<Reading> readings_;
};

const char* Convolution::readAxis(size_t k) {
  const Sint& size = source_.shape()[k];
  Linear sum = linearOf(index_[k]);
  if (sum.constant > 0 || sum.terms.size() > 2) return "an axis is read in another form";
  const int64_t margin = -sum.constant;
  for (const Term& t : sum.terms)
    if (!t.node.is(Op::RANGE) || t.factor < 1) return "an axis is read in another form";
  auto axis = [&](size_t i) { return sum.terms[i].node.arg().as<RangeArg>().ids[0]; };
  if (sum.terms.empty()) {
    if (!graph::isInt(size, 1) || margin) return "an axis is read at one place";
    readings_.push_back({});
    return nullptr;
  }
  if (sum.terms.size() == 1) {
    bool whole = !margin && sum.terms[0].factor == 1 && shape_[static_cast<size_t>(axis(0))] == size;
    if (!whole && (!size.isInt() || !isIntAxis(shape_, axis(0)))) return "a symbolic extent";
    if (!whole && ofFilter_[static_cast<size_t>(axis(0))]) return "the other factor depends on a place";
    readings_.push_back({axis(0), -1, sum.terms[0].factor, 1, margin, whole});
    return nullptr;
  }
  if (!size.isInt() || !isIntAxis(shape_, axis(0)) || !isIntAxis(shape_, axis(1))) return "a symbolic extent";
  size_t outer = sum.terms[0].factor < sum.terms[1].factor ? 1 : 0, inner = 1 - outer;
  int64_t a = axis(outer), b = axis(inner), apart = sum.terms[outer].factor;
  if (!margin && sum.terms[inner].factor == 1 && apart == extent(b) && size.i() == extent(a) * extent(b)) {
    readings_.push_back({a, b, 1, 1, 0, true});
    return nullptr;
  }
  auto fits = [&](int64_t place, int64_t step) {
    return !ofFilter_[static_cast<size_t>(place)] && !ofGradient_[static_cast<size_t>(step)];
  };
  if (!fits(a, b) && !fits(b, a)) return "place and step of a window do not belong to one factor each";
  if (!fits(a, b)) std::swap(outer, inner);
  Reading r{axis(outer), axis(inner), sum.terms[outer].factor, sum.terms[inner].factor, margin};
  if (r.stride > 1 && r.dilation > 1) return "windows with a stride and a dilation";
  readings_.push_back(r);
  return nullptr;
}

/// `u` without the axes `gone` of windows, which it does not depend on: (first, an axis of 1 for each window if
/// `placesBetween`, then, the axes `last` of windows).
Tensor Convolution::ordered(UOp u, int64_t Reading::* gone, const Ints& first, const Ints& then,
                            int64_t Reading::* last, bool placesBetween) const {
  Ints order = first;
  Shape to;
  Bounds bounds;
  for (const Sint& s : shape_) bounds.emplace_back(0, s);
  for (const Reading& r : readings_)
    if (r.isWindow() && r.*gone >= 0) {
      bounds[static_cast<size_t>(r.*gone)].second = 1;
      order.push_back(r.*gone);
    }
  for (int64_t a : first) to.push_back(shape_[static_cast<size_t>(a)]);
  for (const Reading& r : readings_)
    if (r.isWindow() && placesBetween) to.emplace_back(1);
  order.insert(order.end(), then.begin(), then.end());
  for (int64_t a : then) to.push_back(shape_[static_cast<size_t>(a)]);
  for (const Reading& r : readings_) {
    if (!r.isWindow()) continue;
    if (r.*last >= 0) order.push_back(r.*last);
    to.emplace_back(extent(r.*last));
  }
  return Tensor::fromUOp(graph::reshape(graph::permute(graph::shrink(u, bounds), order), to));
}

/// The filter turned: (kept, for each window 1 and its stride, summed, taps).
Tensor Convolution::filter(const Ints& kept, const Ints& summed) const {
  Tensor w = ordered(filter_, &Reading::place, kept, summed, &Reading::step, true);
  const size_t lead = kept.size(), count = w.shape().size() - lead - summed.size();
  const size_t windows = count / 2, taps = lead + windows + summed.size();
  Bounds pads(w.shape().size(), {0, 0});
  Shape apart(w.shape().begin(), w.shape().begin() + static_cast<long>(taps));
  Ints order, turned;
  size_t i = taps;
  for (const Reading& r : readings_) {
    if (!r.isWindow()) continue;
    pads[i++].second = tapsOf(r) * r.stride - extent(r.step);
    turned.push_back(static_cast<int64_t>(apart.size()));
    apart.insert(apart.end(), {Sint(tapsOf(r)), Sint(r.stride)});
  }
  for (size_t k = 0; k < lead; ++k) order.push_back(static_cast<int64_t>(k));
  for (size_t k = 0; k < windows; ++k) {
    order.push_back(static_cast<int64_t>(lead + k));
    order.push_back(static_cast<int64_t>(taps + 2 * k + 1));
  }
  for (size_t k = lead + windows; k < taps; ++k) order.push_back(static_cast<int64_t>(k));
  for (size_t k = 0; k < windows; ++k) order.push_back(static_cast<int64_t>(taps + 2 * k));
  return w.pad(pads).reshape(apart).flip(turned).permute(order);
}

/// The windows of the gradient with its margins: (kept, for each window its places and 1, summed, taps).
Tensor Convolution::windows(const Ints& kept, const Ints& summed) const {
  Tensor g = ordered(gradient_, &Reading::step, kept, summed, &Reading::place, false);
  const size_t lead = kept.size(), places = lead + summed.size();
  Bounds pads(places, {0, 0}), bounds;
  for (const Sint& s : g.shape()) bounds.emplace_back(0, s);
  Ints taps, dilations, order;
  for (size_t k = 0; k < readings_.size(); ++k) {
    const Reading& r = readings_[k];
    if (!r.isWindow()) continue;
    const auto [first, end] = insideOf(r, k);
    const int64_t before = r.dilation * (tapsOf(r) - 1) - first, after = end - extent(r.place);
    auto& [from, to] = bounds[pads.size()];
    from = Sint(std::max<int64_t>(0, -before));
    to = to - Sint(std::max<int64_t>(0, -after));
    pads.emplace_back(std::max<int64_t>(0, before), std::max<int64_t>(0, after));
    taps.push_back(tapsOf(r)), dilations.push_back(r.dilation);
  }
  g = Tensor::fromUOp(graph::pad(graph::shrink(g.uop(), bounds), pads))
          .pool(taps, Ints(taps.size(), 1), dilations);
  Shape to;
  auto take = [&](size_t from, size_t count, bool isPlace) {
    for (size_t k = from; k < from + count; ++k) {
      order.push_back(static_cast<int64_t>(k));
      to.push_back(g.shape()[k]);
      if (isPlace) to.emplace_back(1);
    }
  };
  take(0, lead, false), take(places, taps.size(), true);
  take(lead, summed.size(), false), take(places + taps.size(), taps.size(), false);
  return g.permute(order).reshape(to);
}

/// The results (kept, for each window its places and phases), stored as (kept, phases, places): neighbouring phases are no lanes.
Tensor phasesFirst(const Tensor& result, int64_t kept) {
  Ints order, back;
  for (int64_t k = 0; k < kept; ++k) order.push_back(k), back.push_back(k);
  const int64_t windows = (result.ndim() - kept) / 2;
  for (int64_t k = 0; k < windows; ++k) order.push_back(kept + 2 * k + 1);
  for (int64_t k = 0; k < windows; ++k) {
    order.push_back(kept + 2 * k);
    back.insert(back.end(), {kept + windows + k, kept + k});
  }
  return result.permute(order).contiguous().permute(back);
}

UOp Convolution::write() const {
  Ints kept, summed, back, sums;
  for (const Reading& r : readings_)
    for (int64_t axis : {r.place, r.step})
      if (axis >= 0 && r.isPlain) kept.push_back(axis);
  for (size_t k = 0; k < taken_.size(); ++k)
    if (!taken_[k]) summed.push_back(static_cast<int64_t>(k));
  const bool hasPhases =
      std::ranges::any_of(readings_, [](const Reading& r) { return r.isWindow() && r.stride > 1; });
  Tensor turned = filter(kept, summed),
         product = windows(kept, summed).mul(hasPhases ? turned.contiguous() : turned);
  auto plain = int64_t{0}, window = static_cast<int64_t>(kept.size());
  Shape joined;
  Bounds inside, behind; // all windows
  for (size_t k = 0; k < readings_.size(); ++k) {
    const Reading& r = readings_[k];
    const Sint& size = source_.shape()[k];
    inside.emplace_back(0, size), behind.emplace_back(0, 0), joined.push_back(size);
    if (r.isWindow()) {
      back.insert(back.end(), {window, window + 1});
      window += 2;
      const auto [first, end] = insideOf(r, k);
      const int64_t begin = r.margin - first * r.stride, reached = (end - first) * r.stride,
                    stop = std::min(reached, begin + size.i());
      joined.back() = Sint(reached);
      inside.back() = {begin, stop};
      behind.back().second = begin + size.i() - stop;
    } else
      for (int64_t axis : {r.place, r.step})
        if (axis >= 0) back.push_back(plain++);
  }
  for (int64_t k = window; k < product.ndim(); ++k) sums.push_back(k);
  Tensor result = product.sum(sums);
  if (hasPhases) result = phasesFirst(result, static_cast<int64_t>(kept.size()));
  return graph::pad(graph::shrink(graph::reshape(result.permute(back).uop(), joined), inside), behind);
}

/// Why the movements are none that windows are made of; null if they may be.
const char* refusal(const Leaf& leaf) {
  UOp last = leaf.movements.back();
  auto any = [&](Op op) { return std::ranges::any_of(leaf.movements, [&](UOp m) { return m.is(op); }); };
  if (!any(Op::EXPAND) || !any(Op::RESHAPE)) return "no windows that overlap";
  for (UOp m : leaf.movements)
    if (m.is(Op::PAD) && m != last) return "it is padded more than once";
  for (size_t k = 0; k < last.shape().size() && last.is(Op::PAD); ++k)
    if (graph::isInt(last.src(0).shape()[k], 1) && !graph::isInt(last.shape()[k], 1))
      return "a padded axis of one element"; // its index does not tell where the padding is
  return nullptr;
}

bool isOfPadded(UOp expand) {
  UOp source = expand.src(0);
  while (source.is(Op::RESHAPE)) source = source.src(0);
  return source.is(Op::PAD);
}

} // namespace

UOp gradientThroughWindows(UOp u, const MovementUsers& users, const UOpMap<UOp>& gradients,
                           const char*& why) {
  std::vector<UOp> movements;
  std::vector<Leaf> leaves;
  why = "its source is padded: the gradient of what is padded comes at once";
  if (u.is(Op::EXPAND) && isOfPadded(u)) return {};
  why = "it is not read by products alone";
  if (!findLeaves(u, users, movements, leaves)) return {};
  UOp sum;
  for (const Leaf& leaf : leaves) {
    auto gradient = gradients.find(leaf.product);
    if (gradient == gradients.end()) continue;
    if ((why = refusal(leaf))) return {};
    Convolution convolution(leaf, gradient->second);
    if ((why = convolution.read())) return {};
    why = "it would take more products than are saved";
    if (const double products = convolution.products();
        products > kMostProducts &&
        (products > kMostProductsOfFew || (products - 1) * convolution.channels() > kWorthStored))
      return {};
    why = "a stride, and few windows hold an element";
    if (!convolution.isWorthPhases()) return {};
    UOp part = convolution.write();
    sum = sum ? sum.alu(Op::ADD, {part}) : part;
  }
  why = "no product that reads it has a gradient";
  return sum;
}

} // namespace uopscope
