// type_verify: sets of rules describe the valid graphs. A rule matches a node and answers whether it is
// valid. A node that no rule accepts is an error that names the node, its neighbours and the pass that made
// it.
//
//   typeVerify(sink, SpecStage::Kernel, "early movement ops");
//   typeVerify(program);                       // a linear program: also order, nesting, accumulators, types lowered
//
// Each stage has its own rules: a kernel graph has ranges, reductions and index types; a lowered graph has no
// index type and no movement operation; a program is a list.
#pragma once
#include "engine/rewrite/matcher.h"

namespace uopscope {

enum class SpecStage : uint8_t { Kernel, Lowered };
const PatternMatcher& kernelSpec();
const PatternMatcher& programSpec();

/// Throws Error(Spec) for a node that is not valid in the stage.
void typeVerify(UOp sink, SpecStage stage, std::string_view pass);
void typeVerify(std::span<const UOp> program);

} // namespace uopscope
