// Helper functions that a rendered C kernel may call: conversions of float types that C lacks, and the
// counter-based random generator. The text of a kernel begins with the helpers that it uses.
//
//   cPrelude({"bf16_to_float"})        // static inline float bf16_to_float(bf16 x) { ... }
#pragma once
#include <set>
#include <string>

namespace uopscope {

/// The text of every function in `names` and of the functions these call.
/// Names: bf16_to_float, float_to_bf16, fp8e4m3_to_float, float_to_fp8e4m3, fp8e5m2_..., odd_float, threefry.
std::string cPrelude(const std::set<std::string>& names);

} // namespace uopscope
