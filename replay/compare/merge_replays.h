// Joins the parts of a replay that several machines made. The whole holds the results of a single run, whatever the number of
// parts; only measured times differ.
//
//   mergeReplays("kernels.uopcorpus", {"part-1.uopcorpus", "part-2.uopcorpus"}, "after.uopcorpus");
#pragma once
#include <string>
#include <vector>

namespace uopscope {

/// Writes the results of `parts`, replays of `corpus`, to `result`; returns the number of compilations. Throws Error(Value)
/// where a part was stopped, was made by a different build, or holds an input that `corpus` or a different part has not, and
/// where an input is in no part; then no result is left. Error(File) for files.
size_t mergeReplays(const std::string& corpus, const std::vector<std::string>& parts,
                    const std::string& result);

} // namespace uopscope
