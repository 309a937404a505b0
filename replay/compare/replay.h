// Replaying a corpus: every stored input through this build's compiler, in worker processes, so that a crash
// or an endless loop in one kernel costs that kernel alone.
//
//   ReplaySummary s = replayCorpus("before.uopcorpus", "after.uopcorpus", {.jobs = 2});
#pragma once
#include "replay/record/corpus.h"

#include <atomic>

namespace uopscope {

struct ReplayProgress {
  size_t done = 0, total = 0, failed = 0;
};

struct ReplayOptions {
  int jobs = 0;            ///< worker processes; 0: one a core
  int timeoutSeconds = 60; ///< for one input
  int64_t memoryMb = 4096; ///< for one worker; 0: no limit
  bool assembly = false;   ///< machine code too
  bool kernelsOnly = false;
  bool codeOnly =
      false; ///< no match statistics, and no look at the rewrites of kernels whose code is the same
  std::vector<uint64_t> only = {};       ///< hashes of the inputs wanted; empty: all
  std::vector<std::string> without = {}; ///< rules that are not to apply, by name
  std::function<void(const ReplayProgress&)> progress = {};
  const std::atomic<bool>* stop = nullptr; ///< ends the replay; what is done is kept
};

struct ReplaySummary {
  size_t ok = 0, failed = 0, crashed = 0, timedOut = 0, left = 0; ///< left: not reached when stopped
  size_t same = 0; ///< of `ok`: code and applied rules are those stored
  int64_t wallNs = 0, compileNs = 0;
};

/// Throws Error(File) for files; what happens to an input is in its status.
ReplaySummary replayCorpus(const std::string& corpus, const std::string& result,
                           const ReplayOptions& options);

} // namespace uopscope
