// The pass "Apply Multi Map": a graph over several devices becomes one graph per device, with one rule per
// operation. Rules apply to sources before users: once the sources of a node are MULTI(MSTACK(part, part,
// ...)), the node becomes a MULTI of one node per part.
//
//   ADD(MULTI(x0, x1)[0], MULTI(w0, w1))        becomes  MULTI(x0 + w0, x1 + w1)[0]
//   REDUCE_AXIS(MULTI(x0, x1)[0])[ADD, (0,)]    becomes  MULTI(s0 + copy(s1), copy(s0) + s1)
//
// Invariant: after the pass only MULTI, MSTACK and DEVICE nodes are on several devices.
#include "engine/rewrite/driver.h"
#include "engine/tensor/multi.h"
#include "engine/tensor/state.h"
#include "engine/uop/facts.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

using namespace pat;

/// The parts of a value on several devices; a single part for a value on one device.
struct Shards {
  std::vector<UOp> parts;
  std::optional<int64_t> axis = {};
  bool several() const { return parts.size() > 1; }
};

Shards shardsOf(UOp u) {
  if (!u.is(Op::MULTI)) return {{u}};
  UOp stack = u.src(0);
  for (UOp part : stack.src())
    if (part.is(Op::MULTI)) fail(ErrorKind::Runtime, "a shard is itself on several devices");
  return {{stack.src().begin(), stack.src().end()}, u.arg() ? std::optional(u.arg().i()) : std::nullopt};
}

UOp joined(const Shards& v) {
  if (!v.several()) return v.parts[0];
  UOp stack = UOp::make(Op::MSTACK, v.parts[0].dtype(), v.parts);
  return UOp::make(Op::MULTI, stack.dtype(), {stack}, v.axis ? Arg::of(*v.axis) : Arg());
}

/// Whether a source is on several devices. Otherwise the rules have nothing to do.
bool hasShards(UOp u) {
  return std::any_of(u.src().begin(), u.src().end(), [](UOp s) { return s.is(Op::MULTI); });
}
constexpr const char* kOneDevice = "its sources are on one device";

UOp withFirst(UOp u, UOp first) {
  std::vector<UOp> src(u.src().begin(), u.src().end());
  src[0] = first;
  return u.withSrc(src);
}

/// Applies f to every part; the result is split along `axis`.
template <typename F>
Shards each(const Shards& v, std::optional<int64_t> axis, F f) {
  Shards out{{}, axis};
  for (UOp part : v.parts) out.parts.push_back(f(part));
  return out;
}

/// Gives each device the whole value: every part is padded to the whole, and the parts are added. A part is
/// copied before it is padded, so no zeros are transferred.
Shards replicated(const Shards& v) {
  if (!v.axis) return v;
  auto axis = static_cast<size_t>(*v.axis);
  because([&] { return fmt::format("each device needs all {} shards along axis {}", v.parts.size(), axis); });
  std::vector<UOp> whole;
  size_t n = v.parts.size();
  for (size_t k = 0; k < n; ++k) {
    Sint size = v.parts[k].shape()[axis];
    Bounds amounts(v.parts[k].shape().size(), {0, 0});
    amounts[axis] = {size * Sint(static_cast<int64_t>(k)), size * Sint(static_cast<int64_t>(n - 1 - k))};
    whole.push_back(graph::pad(graph::contiguous(v.parts[k]), amounts));
  }
  Shards out;
  for (UOp here : v.parts) {
    UOp sum;
    for (UOp padded : whole) {
      UOp part = withFirst(padded, graph::copyTo(padded.src(0), here.device()));
      sum = sum ? sum.alu(Op::ADD, {part}) : part;
    }
    out.parts.push_back(sum);
  }
  return out;
}

/// The same value, split along this axis.
Shards sharded(const Shards& v, std::optional<int64_t> axis) {
  if (v.axis == axis) return v;
  Shards all = replicated(v);
  if (!axis) return all;
  for (size_t k = 0; k < all.parts.size(); ++k)
    all.parts[k] = graph::shrink(all.parts[k], shardBounds(all.parts[k].shape(), *axis, k, all.parts.size()));
  all.axis = axis;
  return all;
}

[[noreturn]] void failOnDevices(UOp root, const std::vector<std::string>& devices, const std::string& other,
                                std::string_view advice) {
  fail(ErrorKind::Runtime,
       fmt::format("{}: all tensors must be on the same devices, one is on {} and one on {}{}",
                   opName(root.op()), fmt::join(devices, ","), other, advice));
}

/// A value on one device used beside a value on several. A constant may be copied to each device; memory may
/// not without a request.
Shards spread(UOp root, const Shards& v, const std::vector<std::string>& devices) {
  if (v.several()) {
    for (size_t k = 0; k < devices.size(); ++k)
      if (v.parts.size() != devices.size() || v.parts[k].device() != devices[k])
        failOnDevices(root, devices, joined(v).device(), "");
    return v;
  }
  UOp u = v.parts[0];
  if (u.below().has(Op::BUFFER) || u.below().has(Op::COPY))
    failOnDevices(root, devices, u.device(), "; use .to(...) or .shard(...)");
  Shards out;
  for (const std::string& d : devices) {
    UOpMap<UOp> to;
    for (UOp n : u.toposort())
      if (n.is(Op::DEVICE)) to[n] = deviceNode(d);
    out.parts.push_back(u.substitute(to));
  }
  return out;
}

std::vector<std::string> devicesOf(const Shards& v) {
  std::vector<std::string> devices;
  for (UOp p : v.parts) devices.push_back(p.device());
  return devices;
}

// --- the rules ---

UOp constOnEach(Match& m) {
  UOp u = m.root();
  std::vector<std::string> devices = splitDevices(u.device());
  if (devices.size() < 2) return m.decline("a constant of one device");
  Shards v;
  for (const std::string& d : devices) v.parts.push_back(withFirst(u, deviceNode(d)));
  return joined(v);
}

/// A copy with memory of its own, also on the device of x.
UOp copiedTo(UOp x, const std::string& device) {
  bool isThere = x.device() == device && graph::isMemory(graph::base(x));
  return isThere ? UOp::make(Op::CONTIGUOUS, x.dtype(), {x}, Arg::of("own")) : graph::copyTo(x, device);
}

UOp copyToEach(Match& m) {
  UOp u = m.root();
  Shards v = shardsOf(u.src(0));
  std::vector<std::string> to = splitDevices(u.src(1).device());
  if (!v.several() && to.size() < 2) return m.decline("a copy from one device to one");
  Shards out, all = replicated(v);
  for (const std::string& d : to) {
    auto here = std::find_if(all.parts.begin(), all.parts.end(), [&](UOp p) { return p.device() == d; });
    if (!v.several() || here != all.parts.end())
      out.parts.push_back(copiedTo(v.several() ? *here : v.parts[0], d));
    else
      out.parts.push_back(graph::copyTo(graph::contiguous(all.parts[0]), d));
  }
  return joined(out);
}

UOp reduceShards(Match& m) {
  UOp u = m.root();
  if (!hasShards(u)) return m.decline(kOneDevice);
  Shards v = shardsOf(u.src(0));
  const auto& arg = u.arg().as<ReduceArg>();
  bool across = v.axis && std::find(arg.axes.begin(), arg.axes.end(), *v.axis) != arg.axes.end();
  Shards out =
      each(v, across ? std::nullopt : v.axis, [&](UOp p) { return graph::reduceAxis(p, arg.op, arg.axes); });
  if (across) {
    because([&] {
      return fmt::format("axis {} is split over {} devices and reduced: they reduce together", *v.axis,
                         v.parts.size());
    });
    out.parts = allReduce(out.parts, arg.op);
  }
  return joined(out);
}

/// Combines parts that each device reduced for itself.
UOp reduceTogether(Match& m) {
  UOp u = m.root();
  if (!hasShards(u)) return m.decline(kOneDevice);
  Shards v = shardsOf(u.src(0));
  v.parts = allReduce(v.parts, u.arg().op());
  return joined(v);
}

UOp reshapeShards(Match& m) {
  UOp u = m.root();
  if (!hasShards(u)) return m.decline(kOneDevice);
  Shards v = shardsOf(u.src(0));
  Shape to = u.shape();
  auto reshaped = [&](UOp p) { return graph::reshape(p, to); };
  if (!v.axis) return joined(each(v, {}, reshaped));
  const Shape& from = u.src(0).shape();
  auto n = static_cast<int64_t>(v.parts.size());
  Sint before = prod(Shape(from.begin(), from.begin() + *v.axis)), reach = 1;
  std::optional<size_t> axis; // the last axis that begins where the split axis began
  for (size_t i = 0; i < to.size(); ++i) {
    if (reach == before && !graph::isInt(to[i], 1)) axis = i;
    reach = reach * to[i];
  }
  if (!axis || !to[*axis].isInt() || to[*axis].i() % n) // elements would move between shards
    return joined(each(replicated(v), {}, reshaped));
  to[*axis] = to[*axis].i() / n;
  return joined(each(v, static_cast<int64_t>(*axis), reshaped));
}

UOp permuteShards(Match& m) {
  UOp u = m.root();
  if (!hasShards(u)) return m.decline(kOneDevice);
  Shards v = shardsOf(u.src(0));
  const auto& order = u.arg().ints();
  std::optional<int64_t> axis;
  if (v.axis) axis = std::find(order.begin(), order.end(), *v.axis) - order.begin();
  return joined(each(v, axis, [&](UOp p) { return withFirst(u, p); }));
}

UOp flipShards(Match& m) {
  UOp u = m.root();
  if (!hasShards(u)) return m.decline(kOneDevice);
  Shards v = shardsOf(u.src(0));
  if (v.axis && u.arg().ints()[static_cast<size_t>(*v.axis)]) v = replicated(v);
  return joined(each(v, v.axis, [&](UOp p) { return withFirst(u, p); }));
}

UOp expandShards(Match& m) {
  UOp u = m.root();
  if (!hasShards(u)) return m.decline(kOneDevice);
  Shards v = shardsOf(u.src(0));
  Shape shape = u.shape();
  auto axis = static_cast<size_t>(v.axis.value_or(0));
  if (v.axis && !(u.src(0).shape()[axis] == shape[axis])) v = replicated(v);
  if (!v.axis) return joined(each(v, {}, [&](UOp p) { return withFirst(u, p); }));
  return joined(each(v, v.axis, [&](UOp p) {
    shape[axis] = p.shape()[axis];
    return graph::expand(p, shape);
  }));
}

Bounds boundsOf(UOp padOrShrink) {
  Shape first = uopToShape(padOrShrink.src(1)), second = uopToShape(padOrShrink.src(2));
  Bounds amounts;
  for (size_t i = 0; i < first.size(); ++i) amounts.push_back({first[i], second[i]});
  return amounts;
}

UOp padShards(Match& m) {
  UOp u = m.root();
  if (!hasShards(u)) return m.decline(kOneDevice);
  Shards v = shardsOf(u.src(0));
  Bounds amounts = boundsOf(u);
  if (v.axis) {
    auto [before, after] = amounts[static_cast<size_t>(*v.axis)];
    if (!graph::isInt(before, 0) || !graph::isInt(after, 0)) v = replicated(v);
  }
  return joined(each(v, v.axis, [&](UOp p) { return graph::pad(p, amounts); }));
}

UOp shrinkShards(Match& m) {
  UOp u = m.root();
  if (!hasShards(u)) return m.decline(kOneDevice);
  Shards v = shardsOf(u.src(0));
  if (!v.axis) return joined(each(v, {}, [&](UOp p) { return withFirst(u, p); }));
  auto a = static_cast<size_t>(*v.axis);
  const Shape& from = u.src(0).shape();
  Bounds amounts = boundsOf(u);
  auto wanted = amounts[a];
  if (graph::isInt(wanted.first, 0) && wanted.second == from[a])
    return joined(each(v, v.axis, [&](UOp p) {
      amounts[a] = {0, p.shape()[a]};
      return graph::shrink(p, amounts);
    }));
  for (size_t k = 0; k < v.parts.size(); ++k) {
    Bounds own = shardBounds(from, *v.axis, k, v.parts.size());
    if (!(own[a].first == wanted.first) || !(own[a].second == wanted.second)) continue;
    amounts[a] = {0, v.parts[k].shape()[a]};
    because([&] { return fmt::format("exactly shard {} of {}: the others get a copy", k, v.parts.size()); });
    UOp part = graph::shrink(v.parts[k], amounts);
    return joined(each(v, {}, [&](UOp p) {
      return p.device() == part.device() ? part : graph::copyTo(graph::contiguous(part), p.device());
    }));
  }
  return joined(each(replicated(v), {}, [&](UOp p) { return graph::shrink(p, amounts); }));
}

/// Whether a part is in a buffer, now or after a pending assignment. The copy of a part that is not computed
/// yet has no buffer: it just takes the new value.
bool hasMemory(UOp part) {
  return graph::isMemory(graph::viewed(part));
}

UOp assignShards(Match& m) {
  UOp u = m.root();
  if (!hasShards(u)) return m.decline(kOneDevice);
  Shards target = shardsOf(u.src(0)), value = shardsOf(u.src(1));
  if (!target.several())
    fail(ErrorKind::Runtime,
         fmt::format("assign to a tensor on {} of one on {}", u.src(0).device(), u.src(1).device()));
  value = spread(u, value, devicesOf(target));
  if (value.axis && target.axis && target.axis != value.axis)
    fail(ErrorKind::Runtime,
         fmt::format("axis must match in assign: {} is split along axis {}, {} along {}", shapeStr(u.shape()),
                     *target.axis, shapeStr(u.src(1).shape()), *value.axis));
  value = sharded(value, target.axis);
  for (size_t k = 0; k < target.parts.size(); ++k)
    target.parts[k] = hasMemory(target.parts[k]) ? graph::assign(target.parts[k], value.parts[k])
                                                 : graph::contiguous(value.parts[k]);
  return joined(target);
}

/// A kernel given by hand runs on each device with its shards.
UOp kernelOnEach(Match& m) {
  UOp u = m.root();
  if (!hasShards(u)) return m.decline(kOneDevice);
  std::vector<Shards> values;
  size_t n = 1;
  for (UOp s : u.src()) {
    values.push_back(shardsOf(s));
    n = std::max(n, values.back().parts.size());
  }
  Shards out{{}, values[0].axis};
  for (size_t k = 0; k < n; ++k) {
    std::vector<UOp> src;
    for (const Shards& v : values) src.push_back(v.several() ? v.parts[k] : v.parts[0]);
    out.parts.push_back(u.withSrc(src));
  }
  return joined(out);
}

UOp operationOnEach(Match& m) {
  UOp u = m.root();
  if (!hasShards(u)) return m.decline(kOneDevice);
  std::vector<Shards> values;
  std::vector<std::string> devices;
  std::optional<int64_t> axis;
  for (UOp s : u.src()) {
    values.push_back(shardsOf(s));
    const Shards& v = values.back();
    if (v.several() && devices.empty()) devices = devicesOf(v);
    if (v.axis) axis = v.axis;
  }
  for (Shards& v : values) v = sharded(spread(u, v, devices), axis);
  Shards out{{}, axis};
  for (size_t k = 0; k < devices.size(); ++k) {
    std::vector<UOp> src;
    for (const Shards& v : values) src.push_back(v.parts[k]);
    out.parts.push_back(u.withSrc(src));
  }
  return joined(out);
}

/// Operations with a rule of their own, and those that stay because they name the devices.
constexpr OpSet kOwnRule = group::kMovement | OpSet{Op::CONST,  Op::COPY,   Op::REDUCE_AXIS,   Op::ALLREDUCE,
                                                    Op::ASSIGN, Op::AFTER,  Op::CUSTOM_KERNEL, Op::MULTI,
                                                    Op::MSTACK, Op::DEVICE, Op::SINK};

constexpr RuleDef kShardRules[] = {
    RULE("const-on-each-device", any(Op::CONST), constOnEach),
    RULE("copy-to-each-device", any(Op::COPY), copyToEach),
    RULE("reduce-shards", any(Op::REDUCE_AXIS), reduceShards),
    RULE("reduce-together", any(Op::ALLREDUCE), reduceTogether),
    RULE("reshape-shards", any(Op::RESHAPE), reshapeShards),
    RULE("permute-shards", any(Op::PERMUTE), permuteShards),
    RULE("flip-shards", any(Op::FLIP), flipShards),
    RULE("expand-shards", any(Op::EXPAND), expandShards),
    RULE("pad-shards", any(Op::PAD), padShards),
    RULE("shrink-shards", any(Op::SHRINK), shrinkShards),
    RULE("assign-shards", any(Op::ASSIGN), assignShards),
    RULE("kernel-on-each-device", any({Op::AFTER, Op::CUSTOM_KERNEL}), kernelOnEach),
    RULE("operation-on-each-device", any(OpSet::all() - kOwnRule), operationOnEach),
};
const KnownRules kShardRulesKnown(kShardRules);

} // namespace

const PatternMatcher& shardRules() {
  static const PatternMatcher rules({kShardRules});
  return rules;
}

UOpMap<UOp> separateDevices(UOp sink) {
  ObservedScope scope({ScopeKind::Other, "several devices", {}, sink});
  UOpMap<UOp> map;
  graphRewrite(sink, shardRules(), {.name = "Apply Multi Map", .map = &map});
  map.erase(sink);
  std::erase_if(map, [](const auto& entry) { return entry.first == entry.second; });
  return map;
}

} // namespace uopscope
