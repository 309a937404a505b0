// Tensors on several devices: their devices, their split axis, and sharding. shard_rules.cpp has the rules
// that separate their graphs.
#include "engine/tensor/multi.h"

#include "engine/base/id_map.h"
#include "engine/runtime/device.h"
#include "engine/tensor/placeholder.h"
#include "engine/tensor/state.h"
#include "engine/tensor/tensor.h"
#include "engine/uop/facts.h"
#include "engine/uop/unique.h"
#include "engine/uop/visit.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

UOp deviceOf(UOp u) {
  u.device(); // computes the fact
  return u.node()->facts->device;
}

std::vector<std::string> splitDevices(const std::string& device) {
  if (device.starts_with("DISK:")) return {device}; // a path may contain commas
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
    } else if (axis && u.is(Op::RESHAPE)) { // the last axis that begins where the split axis began
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
  return !visitBelow(roots, [](UOp u) {
    bool several = u.is(Op::MULTI) || (u.is(Op::DEVICE) && splitDevices(u.device()).size() > 1);
    return several ? Visit::Stop : Visit::Below;
  });
}

std::vector<std::string> Tensor::devices() const {
  return splitDevices(device());
}

std::optional<int64_t> Tensor::shardAxis() const {
  UOp u = uop();
  if (splitDevices(u.device()).size() == 1) return {};
  if (u.is(Op::MULTI)) return u.arg() ? std::optional(u.arg().i()) : std::nullopt;
  if (dependsOnPlaceholder(u)) return {}; // nobody knows before the argument is there
  OperationScope op("axis");
  ObserverScope asked(nullptr); // a question about the graph, which changes nothing
  UOpMap<UOp> apart = separateDevices(UOp::sink(std::vector<UOp>{u}));
  auto found = apart.find(u);
  UOp now = found == apart.end() ? u : found->second;
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
  auto a = static_cast<int64_t>(resolveAxis(*axis));
  std::vector<UOp> parts;
  for (size_t k = 0; k < where.size(); ++k)
    parts.push_back(graph::copyTo(graph::shrink(uop(), shardBounds(shape(), a, k, where.size())), where[k]));
  // The part on the source's own device is a copy too.
  for (UOp& p : parts)
    if (!p.is(Op::COPY)) p = graph::contiguous(p);
  UOp stack = UOp::make(Op::MSTACK, dtype(), parts);
  return apply(UOp::make(Op::MULTI, dtype(), {stack}, Arg::of(a)));
}

Tensor Tensor::shardLike(const Tensor& other) const {
  std::vector<std::string> where = other.devices();
  std::optional<int64_t> axis = other.shardAxis();
  if (where.size() == 1) return to(other.device());
  if (devices() != where) return shard(where, axis);
  if (shardAxis() == axis) return *this;
  OperationScope op("shard_like"); // a different split axis: each device takes its part
  std::vector<UOp> parts;
  for (size_t k = 0; k < where.size(); ++k)
    parts.push_back(graph::copyTo(
        axis ? graph::shrink(uop(), shardBounds(shape(), *axis, k, where.size())) : uop(), where[k]));
  return apply(
      UOp::make(Op::MULTI, dtype(), {UOp::make(Op::MSTACK, dtype(), parts)}, axis ? Arg::of(*axis) : Arg()));
}

} // namespace uopscope
