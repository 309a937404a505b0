// Runs independent parts of a long work on all processors.
//
//   bool whole = onAllThreads(parts.size(), [&](size_t k) { check(parts[k]); }, progress);
#pragma once
#include <cstddef>
#include <functional>

namespace uopscope {

/// Calls work(0) ... work(count - 1), each once, in any order, on as many threads as there are processors (CPU_COUNT). The
/// calling thread takes part, and it alone calls progress with the share that is done; an answer of false stops the work.
/// Returns whether all of it was done. Throws what a part threw.
bool onAllThreads(size_t count, const std::function<void(size_t)>& work,
                  const std::function<bool(double)>& progress = {});

} // namespace uopscope
