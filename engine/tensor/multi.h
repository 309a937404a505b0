// Tensors on several devices, inside the tensor library.
//
// Such a tensor is MULTI(MSTACK(part, part, ...), DEVICE "CPU,CPU:1"): its arg is the axis that is split, or
// nothing where every device has all of it. Operations build the same graph over it as over any other value.
// Before a schedule, separateDevices takes the graph apart into one graph per device, with COPYs between
// them: the scheduler and everything after it know one device at a time.
//
//   parts of (x sharded on 0) + (w on each)   x0 + w0, x1 + w1
//   parts of sum over axis 0                  s0 + copy(s1), copy(s0) + s1     (all-reduce)
#pragma once
#include "engine/rewrite/matcher.h"
#include "engine/tensor/graph.h"
#include "engine/uop/uop.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace uopscope {

/// The DEVICE node a value is on; null for a constant that is on none.
UOp deviceOf(UOp u);
/// "CPU,CPU:1" -> both.
std::vector<std::string> splitDevices(const std::string& device);
/// The axis along which a value on several devices will be split, before it is computed; nothing where each
/// has all of it, or for a value on one device.
std::optional<int64_t> splitAxis(UOp u);
/// The part of a value of this shape that the k-th of n devices has. Throws Error(Runtime) where the axis
/// does not split evenly.
Bounds shardBounds(const Shape& shape, int64_t axis, size_t k, size_t n);

bool touchesSeveralDevices(std::span<const UOp> roots);
/// For each node of the graph that lies on several devices, or is computed from such: a MULTI of one node per
/// device, or the node of the one device. One pass, "Apply Multi Map" (shard_rules.cpp).
UOpMap<UOp> separateDevices(UOp sink);
const PatternMatcher& shardRules();

/// The n parts reduced by `op`, on each of their devices. Ring or all-to-all for large values on more than
/// two devices, as RING and ALL2ALL say (0 never, 1 where it pays, 2 always).
std::vector<UOp> allReduce(const std::vector<UOp>& parts, Op op);

} // namespace uopscope
