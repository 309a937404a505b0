// Taking graphs over several devices apart, one rule per operation. See multi.h.
#include "engine/tensor/multi.h"

#include "engine/base/id_map.h"
#include "engine/runtime/device.h"
#include "engine/tensor/state.h"
#include "engine/tensor/tensor.h"
#include "engine/uop/facts.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

UOp deviceOf(UOp u) {
  u.device(); // computes the fact
  return u.node()->facts->device;
}

std::vector<std::string> splitDevices(const std::string& device) {
  if (device.starts_with("DISK:")) return {device}; // a path may have commas
  std::vector<std::string> out;
  for (size_t at = 0; at <= device.size();) {
    size_t end = std::min(device.find(',', at), device.size());
    out.push_back(device.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::optional<int64_t> splitAxis(UOp root) {
  if (splitDevices(root.device()).size() < 2) return {};
  UOpMap<std::optional<int64_t>> known;
  for (UOp u : root.toposort()) {
    std::optional<int64_t> axis;
    for (UOp s : u.src())
      if (auto it = known.find(s); it != known.end() && it->second && !axis) axis = it->second;
    if (u.is(Op::MULTI))
      axis = u.arg() ? std::optional<int64_t>(u.arg().i()) : std::nullopt;
    else if (u.is(Op::COPY))
      axis = {};
    else if (axis && u.is(Op::PERMUTE))
      axis = std::find(u.arg().ints().begin(), u.arg().ints().end(), *axis) - u.arg().ints().begin();
    else if (axis && u.is(Op::REDUCE_AXIS)) {
      const auto& axes = u.arg().as<ReduceArg>().axes;
      if (std::find(axes.begin(), axes.end(), *axis) != axes.end()) axis = {};
    } else if (axis && u.is(Op::RESHAPE)) { // the last axis that begins where the split one began
      const Shape &from = u.src(0).shape(), &to = u.shape();
      Sint before = prod(Shape(from.begin(), from.begin() + *axis)), reach = 1;
      axis = {};
      for (size_t i = 0; i < to.size(); ++i) {
        if (reach == before) axis = static_cast<int64_t>(i);
        reach = reach * to[i];
      }
    }
    known[u] = axis;
  }
  return known[root];
}

Bounds shardBounds(const Shape& shape, int64_t axis, size_t k, size_t n) {
  const Sint& whole = shape[static_cast<size_t>(axis)];
  auto count = static_cast<int64_t>(n), number = static_cast<int64_t>(k);
  if (!whole.isInt() || whole.i() % count)
    fail(ErrorKind::Runtime,
         fmt::format("axis {} of {} does not split into {} equal parts", axis, shapeStr(shape), n));
  Bounds bounds;
  for (const Sint& s : shape) bounds.push_back({0, s});
  int64_t size = whole.i() / count;
  bounds[static_cast<size_t>(axis)] = {Sint(number * size), Sint((number + 1) * size)};
  return bounds;
}

bool touchesSeveralDevices(std::span<const UOp> roots) {
  IdMap<bool> seen;
  std::vector<UOp> stack(roots.begin(), roots.end());
  while (!stack.empty()) {
    UOp u = stack.back();
    stack.pop_back();
    if (seen.contains(u.slot())) continue;
    seen.set(u.slot(), true);
    if (u.is(Op::DEVICE) && splitDevices(u.device()).size() > 1) return true;
    for (UOp s : u.src())
      if (!seen.contains(s.slot())) stack.push_back(s);
  }
  return false;
}

namespace {

/// A value on several devices while it is taken apart; one part: on one device.
struct Value {
  std::vector<UOp> parts;
  std::optional<int64_t> axis;
  bool several() const { return parts.size() > 1; }
};

class Separator {
public:
  std::vector<std::pair<UOp, UOp>> run(UOp sink) {
    std::vector<std::pair<UOp, UOp>> out;
    for (UOp u : sink.toposort()) {
      if (u == sink) continue;
      bool touched = u.is(Op::DEVICE) && splitDevices(u.device()).size() > 1;
      for (UOp s : u.src()) touched = touched || touched_.contains(s.slot());
      if (!touched) continue;
      touched_.set(u.slot(), true);
      if (u.is(Op::DEVICE) || u.is(Op::MSTACK)) continue;
      Value v = separate(u);
      values_[u] = v;
      out.emplace_back(u, joined(v));
    }
    return out;
  }

private:
  static UOp joined(const Value& v) {
    if (!v.several()) return v.parts[0];
    std::string devices;
    for (UOp p : v.parts) devices += (devices.empty() ? "" : ",") + p.device();
    UOp stack = UOp::make(Op::MSTACK, v.parts[0].dtype(), v.parts);
    return UOp::make(Op::MULTI, stack.dtype(), {stack, deviceNode(devices)},
                     v.axis ? Arg::of(*v.axis) : Arg());
  }

  Value valueOf(UOp u) const {
    auto it = values_.find(u);
    return it == values_.end() ? Value{{u}, {}} : it->second;
  }

  /// All of it on each device.
  static Value replicated(const Value& v) {
    if (!v.axis) return v;
    auto axis = static_cast<size_t>(*v.axis);
    std::vector<UOp> whole;
    size_t n = v.parts.size();
    for (size_t k = 0; k < n; ++k) {
      Sint size = v.parts[k].shape()[axis];
      Bounds amounts(v.parts[k].shape().size(), {0, 0});
      amounts[axis] = {size * Sint(static_cast<int64_t>(k)), size * Sint(static_cast<int64_t>(n - 1 - k))};
      whole.push_back(amounts.empty() ? v.parts[k] : graph::contiguous(v.parts[k]));
      whole.back() = graph::pad(whole.back(), amounts);
    }
    // each part is copied before it is padded: no zeros travel
    std::vector<UOp> out;
    for (UOp here : v.parts) {
      UOp sum;
      for (UOp padded : whole) {
        std::vector<UOp> src(padded.src().begin(), padded.src().end());
        src[0] = graph::copyTo(src[0], here.device());
        UOp part = padded.withSrc(src);
        sum = sum ? sum.alu(Op::ADD, {part}) : part;
      }
      out.push_back(sum);
    }
    return {out, {}};
  }

  /// The same value with this axis split.
  static Value sharded(const Value& v, std::optional<int64_t> axis) {
    if (v.axis == axis) return v;
    Value all = replicated(v);
    if (!axis) return all;
    for (size_t k = 0; k < all.parts.size(); ++k)
      all.parts[k] =
          graph::shrink(all.parts[k], shardBounds(all.parts[k].shape(), *axis, k, all.parts.size()));
    all.axis = axis;
    return all;
  }

  /// A value of one device, where the others of an operation are on several: constants go anywhere.
  static Value spread(UOp root, const Value& v, const std::vector<std::string>& devices) {
    if (v.several()) {
      for (size_t k = 0; k < devices.size(); ++k)
        if (v.parts.size() != devices.size() || v.parts[k].device() != devices[k])
          fail(ErrorKind::Runtime,
               fmt::format("{}: all tensors must be on the same devices, one is on {} and "
                           "one on {}",
                           opName(root.op()), fmt::join(devices, ","), joined(v).device()));
      return v;
    }
    UOp u = v.parts[0];
    bool constant = true;
    for (UOp n : u.toposort()) constant = constant && !n.in({Op::BUFFER, Op::COPY});
    if (!constant)
      fail(ErrorKind::Runtime,
           fmt::format("{}: all tensors must be on the same devices, one is on {} and one "
                       "on {}; use .to(...) or .shard(...)",
                       opName(root.op()), fmt::join(devices, ","), u.device()));
    Value out;
    for (const std::string& d : devices) {
      UOpMap<UOp> to;
      for (UOp n : u.toposort())
        if (n.is(Op::DEVICE)) to[n] = deviceNode(d);
      out.parts.push_back(u.substitute(to));
    }
    return out;
  }

  static UOp withFirst(UOp u, UOp first) {
    std::vector<UOp> src(u.src().begin(), u.src().end());
    src[0] = first;
    return u.withSrc(src);
  }

  template <typename F>
  static Value each(const Value& v, std::optional<int64_t> axis, F f) {
    Value out{{}, axis};
    for (size_t k = 0; k < v.parts.size(); ++k) out.parts.push_back(f(v.parts[k]));
    return out;
  }

  Value separate(UOp u) {
    bool several = u.in({Op::CONST, Op::MULTI, Op::COPY});
    for (UOp s : u.src()) several = several || valueOf(s).several();
    if (!several) { // computed on one device from what came from several
      std::vector<UOp> src;
      for (UOp s : u.src()) src.push_back(valueOf(s).parts[0]);
      return {{u.withSrc(src)}, {}};
    }
    switch (u.op()) {
    case Op::CONST: {
      Value v;
      for (const std::string& d : splitDevices(u.device())) {
        std::vector<UOp> src(u.src().begin(), u.src().end());
        src[0] = deviceNode(d);
        v.parts.push_back(u.withSrc(src));
      }
      return v;
    }
    case Op::MULTI: {
      Value v{{}, u.arg() ? std::optional(u.arg().i()) : std::nullopt};
      for (UOp p : u.src(0).src()) v.parts.push_back(single(valueOf(p)));
      return v;
    }
    case Op::COPY: return copied(u);
    case Op::REDUCE_AXIS: return reduced(u);
    case Op::ALLREDUCE: {
      Value v = valueOf(u.src(0));
      v.parts = allReduce(v.parts, u.arg().op());
      return v;
    }
    case Op::RESHAPE: return reshaped(u);
    case Op::ASSIGN: return assigned(u);
    case Op::PERMUTE: {
      Value v = valueOf(u.src(0));
      const auto& order = u.arg().ints();
      std::optional<int64_t> axis;
      if (v.axis) axis = std::find(order.begin(), order.end(), *v.axis) - order.begin();
      return each(v, axis, [&](UOp p) { return withFirst(u, p); });
    }
    case Op::EXPAND:
    case Op::PAD:
    case Op::SHRINK:
    case Op::FLIP: return moved(u);
    case Op::AFTER:
    case Op::CUSTOM_KERNEL: return custom(u);
    default: return elementwise(u);
    }
  }

  static UOp single(const Value& v) {
    if (v.several()) fail(ErrorKind::Runtime, "a shard is itself on several devices");
    return v.parts[0];
  }

  /// A value of its own, on the device where it is as well.
  static UOp copiedTo(UOp x, const std::string& device) {
    bool isThere = x.device() == device && graph::isMemory(graph::base(x));
    return isThere ? UOp::make(Op::CONTIGUOUS, x.dtype(), {x}, Arg::of("own")) : graph::copyTo(x, device);
  }

  Value copied(UOp u) {
    Value v = valueOf(u.src(0));
    std::vector<std::string> to = splitDevices(u.src(1).device());
    if (!v.several()) {
      Value out;
      for (const std::string& d : to) out.parts.push_back(copiedTo(v.parts[0], d));
      return out;
    }
    Value all = replicated(v);
    Value out;
    for (const std::string& d : to) {
      auto here = std::find_if(all.parts.begin(), all.parts.end(), [&](UOp p) { return p.device() == d; });
      out.parts.push_back(here != all.parts.end() ? copiedTo(*here, d)
                                                  : graph::copyTo(graph::contiguous(all.parts[0]), d));
    }
    return out;
  }

  Value reduced(UOp u) {
    Value v = valueOf(u.src(0));
    const auto& arg = u.arg().as<ReduceArg>();
    bool across = v.axis && std::find(arg.axes.begin(), arg.axes.end(), *v.axis) != arg.axes.end();
    Value out = each(v, across ? std::nullopt : v.axis,
                     [&](UOp p) { return graph::reduceAxis(p, arg.op, arg.axes); });
    if (across) out.parts = allReduce(out.parts, arg.op);
    return out;
  }

  Value reshaped(UOp u) {
    Value v = valueOf(u.src(0));
    Shape to = u.shape();
    if (!v.axis) return each(v, {}, [&](UOp p) { return graph::reshape(p, to); });
    const Shape& from = u.src(0).shape();
    auto n = static_cast<int64_t>(v.parts.size());
    Sint before = prod(Shape(from.begin(), from.begin() + *v.axis)), reach = 1;
    // the last axis that begins where the split one began
    std::optional<size_t> axis;
    for (size_t i = 0; i < to.size(); ++i) {
      if (reach == before && !(graph::isInt(to[i], 1))) axis = i;
      reach = reach * to[i];
    }
    if (!axis || !to[*axis].isInt() || to[*axis].i() % n) { // items would move between shards
      Value all = replicated(v);
      return each(all, {}, [&](UOp p) { return graph::reshape(p, to); });
    }
    to[*axis] = to[*axis].i() / n;
    return each(v, static_cast<int64_t>(*axis), [&](UOp p) { return graph::reshape(p, to); });
  }

  Value moved(UOp u) {
    Value v = valueOf(u.src(0));
    if (!v.axis) return each(v, {}, [&](UOp p) { return withFirst(u, p); });
    auto a = static_cast<size_t>(*v.axis);
    const Shape &from = u.src(0).shape(), &to = u.shape();
    if (u.is(Op::FLIP)) {
      if (u.arg().ints()[a]) v = replicated(v);
      return each(v, v.axis, [&](UOp p) { return withFirst(u, p); });
    }
    if (u.is(Op::EXPAND)) {
      if (!(from[a] == to[a])) {
        v = replicated(v);
        return each(v, {}, [&](UOp p) { return withFirst(u, p); });
      }
      Shape shape = to;
      return each(v, v.axis, [&](UOp p) {
        shape[a] = p.shape()[a];
        return graph::expand(p, shape);
      });
    }
    Shape first = uopToShape(u.src(1)), second = uopToShape(u.src(2));
    Bounds amounts;
    for (size_t i = 0; i < first.size(); ++i) amounts.push_back({first[i], second[i]});
    if (u.is(Op::PAD)) {
      if (!graph::isInt(first[a], 0) || !graph::isInt(second[a], 0)) v = replicated(v);
      return each(v, v.axis, [&](UOp p) { return graph::pad(p, amounts); });
    }
    if (graph::isInt(first[a], 0) && second[a] == from[a])
      return each(v, v.axis, [&](UOp p) {
        amounts[a] = {0, p.shape()[a]};
        return graph::shrink(p, amounts);
      });
    for (size_t k = 0; k < v.parts.size(); ++k) {
      Bounds own = shardBounds(from, *v.axis, k, v.parts.size());
      if (!(own[a].first == first[a]) || !(own[a].second == second[a])) continue;
      amounts[a] = {0, v.parts[k].shape()[a]};
      UOp part =
          graph::shrink(v.parts[k], amounts); // exactly one shard: others get a copy where they want it
      return each(v, {}, [&](UOp p) {
        return p.device() == part.device() ? part : graph::copyTo(graph::contiguous(part), p.device());
      });
    }
    v = replicated(v);
    return each(v, {}, [&](UOp p) { return graph::shrink(p, amounts); });
  }

  Value assigned(UOp u) {
    Value target = valueOf(u.src(0)), value = valueOf(u.src(1));
    if (!target.several())
      fail(ErrorKind::Runtime,
           fmt::format("assign to a tensor on {} of one on {}", u.src(0).device(), u.src(1).device()));
    std::vector<std::string> devices;
    for (UOp p : target.parts) devices.push_back(p.device());
    value = spread(u, value, devices);
    if (value.axis && target.axis && target.axis != value.axis)
      fail(ErrorKind::Runtime,
           fmt::format("axis must match in assign: {} is split along axis {}, {} along {}",
                       shapeStr(u.shape()), *target.axis, shapeStr(u.src(1).shape()), *value.axis));
    value = sharded(value, target.axis);
    for (size_t k = 0; k < target.parts.size(); ++k)
      target.parts[k] = hasMemory(target.parts[k]) ? graph::assign(target.parts[k], value.parts[k])
                                                   : graph::contiguous(value.parts[k]);
    return target;
  }

  /// Whether a shard lies in a buffer, or will once an assignment before this one is made. What does not yet
  /// (a copy to be made) simply takes the new value.
  static bool hasMemory(UOp part) { return graph::isMemory(graph::viewed(part)); }

  /// A kernel given by hand runs on each device over its shards.
  Value custom(UOp u) {
    std::vector<Value> values;
    size_t n = 1;
    for (UOp s : u.src()) {
      values.push_back(valueOf(s));
      n = std::max(n, values.back().parts.size());
    }
    Value out{{}, values[0].axis};
    for (size_t k = 0; k < n; ++k) {
      std::vector<UOp> src;
      for (const Value& v : values) src.push_back(v.several() ? v.parts[k] : v.parts[0]);
      out.parts.push_back(u.withSrc(src));
    }
    return out;
  }

  Value elementwise(UOp u) {
    std::vector<Value> values;
    std::vector<std::string> devices;
    std::optional<int64_t> axis;
    for (UOp s : u.src()) {
      values.push_back(valueOf(s));
      const Value& v = values.back();
      if (v.several() && devices.empty())
        for (UOp p : v.parts) devices.push_back(p.device());
      if (v.axis) axis = v.axis;
    }
    size_t n = devices.size();
    for (Value& v : values) v = sharded(spread(u, v, devices), axis);
    Value out{{}, axis};
    for (size_t k = 0; k < n; ++k) {
      std::vector<UOp> src;
      for (const Value& v : values) src.push_back(v.parts[k]);
      out.parts.push_back(u.withSrc(src));
    }
    return out;
  }

  IdMap<bool> touched_;
  UOpMap<Value> values_;
};

} // namespace

std::vector<std::pair<UOp, UOp>> separateDevices(UOp sink) {
  return Separator().run(sink);
}

std::vector<std::string> Tensor::devices() const {
  return splitDevices(device());
}

std::optional<int64_t> Tensor::shardAxis() const {
  UOp u = uop();
  if (splitDevices(u.device()).size() == 1) return {};
  if (u.is(Op::MULTI)) return u.arg() ? std::optional(u.arg().i()) : std::nullopt;
  OperationScope op("axis");
  auto all = separateDevices(UOp::sink(std::vector<UOp>{u}));
  UOp now = all.back().second;
  return now.is(Op::MULTI) && now.arg() ? std::optional(now.arg().i()) : std::nullopt;
}

Tensor Tensor::shard(const std::vector<std::string>& names, std::optional<int64_t> axis) const {
  OperationScope op("shard");
  if (devices().size() > 1)
    fail(ErrorKind::Runtime, fmt::format("can't shard a multi-device tensor, it is on {}", device()));
  if (names.empty()) fail(ErrorKind::Index, "needs at least one device");
  std::string all;
  std::vector<std::string> where;
  for (const std::string& name : names) {
    where.push_back(Device::canonicalize(name));
    Device::get(where.back());
    all += (all.empty() ? "" : ",") + where.back();
  }
  if (where.size() == 1) return to(where[0]);
  if (!axis) return to(all);
  int64_t a = resolveDim(*axis);
  std::vector<UOp> parts;
  for (size_t k = 0; k < where.size(); ++k)
    parts.push_back(graph::copyTo(graph::shrink(uop(), shardBounds(shape(), a, k, where.size())), where[k]));
  // a part on the device it comes from is memory of its own all the same
  for (UOp& p : parts)
    if (!p.is(Op::COPY)) p = graph::contiguous(p);
  UOp stack = UOp::make(Op::MSTACK, dtype(), parts);
  return apply(UOp::make(Op::MULTI, dtype(), {stack, deviceNode(all)}, Arg::of(a)));
}

Tensor Tensor::shardLike(const Tensor& other) const {
  std::vector<std::string> where = other.devices();
  std::optional<int64_t> axis = other.shardAxis();
  if (where.size() == 1) return to(other.device());
  if (devices() != where) return shard(where, axis);
  if (shardAxis() == axis) return *this;
  OperationScope op("shard_like"); // split along another axis: each device takes its part
  std::vector<UOp> parts;
  for (size_t k = 0; k < where.size(); ++k)
    parts.push_back(graph::copyTo(
        axis ? graph::shrink(uop(), shardBounds(shape(), *axis, k, where.size())) : uop(), where[k]));
  return apply(UOp::make(Op::MULTI, dtype(), {UOp::make(Op::MSTACK, dtype(), parts), deviceOf(uop())},
                         axis ? Arg::of(*axis) : Arg()));
}

} // namespace uopscope
