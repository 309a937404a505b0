// Tensors on several devices, inside the tensor library.
//
// Such a tensor is MULTI(MSTACK(part, part, ...)). The argument of the MULTI is the split
// axis, or none if every device has the whole tensor. Operations build the same graph over it as over any
// value. Before a schedule, separateDevices turns the graph into one graph per device, with COPYs between
// them: the scheduler and all later stages work on one device at a time.
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

/// The DEVICE node of a value; null for a constant without a device.
UOp deviceOf(UOp u);
/// "CPU,CPU:1" -> {"CPU", "CPU:1"}.
std::vector<std::string> splitDevices(const std::string& device);
/// The axis along which a value on several devices will be split, known before it is computed. None if each
/// device has the whole value, or if it is on one device.
std::optional<int64_t> splitAxis(UOp u);
/// The part of a value of this shape on the k-th of n devices. Throws Error(Runtime) if the axis does not
/// split evenly.
Bounds shardBounds(const Shape& shape, int64_t axis, size_t k, size_t n);

bool touchesSeveralDevices(std::span<const UOp> roots);
/// For each node of the graph on several devices, and each node computed from one: a MULTI of one node per
/// device, or a node on a single device. This is the pass "Apply Multi Map" (shard_rules.cpp).
UOpMap<UOp> separateDevices(UOp sink);
const PatternMatcher& shardRules();

/// The n parts reduced by `op`, on each of their devices. Large values on more than two devices use a ring or
/// all-to-all, as RING and ALL2ALL choose (0 never, 1 for large values, 2 always).
std::vector<UOp> allReduce(const std::vector<UOp>& parts, Op op);

} // namespace uopscope
