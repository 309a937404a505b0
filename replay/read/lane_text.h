// Texts of many lanes: runs are told by their length, even steps by their ends.
//
//   runsOf(texts)      ->  "0 ×32, 1 ×32"
//   evenSteps(texts)   ->  "0, 1 … 63"; empty where the texts are no such numbers
#pragma once
#include <span>
#include <string>

namespace uopscope {

/// So many items are read one by one; more are read by their runs.
constexpr size_t kFewLanes = 8;

std::string evenSteps(std::span<const std::string> texts);
/// Few items are told one by one.
std::string runsOf(std::span<const std::string> texts);
/// The same of "(0, 0, 1)"; any other text comes back as it is.
std::string runsOfTuple(std::string text);

} // namespace uopscope
