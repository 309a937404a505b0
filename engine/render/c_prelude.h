// Functions that a rendered C kernel may call, written above it when it does: conversions of the float types
// that C lacks, and the counter-based random generator.
#pragma once
#include <set>
#include <string>

namespace uopscope {

/// The text of every function in `names` and of the functions these call.
/// Names: bf16_to_float, float_to_bf16, fp8e4m3_to_float, float_to_fp8e4m3, fp8e5m2_..., odd_float, threefry.
std::string cPrelude(const std::set<std::string>& names);

} // namespace uopscope
