// Replays a corpus: compiles every stored input with this build, in worker processes. A crash or an endless
// loop in one kernel therefore costs only that kernel.
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
  int jobs = 0;            ///< worker processes; 0: one per core
  int timeoutSeconds = 60; ///< limit for one input
  int64_t memoryMb = 4096; ///< limit for one worker; 0: none
  bool assembly = false;   ///< make machine code too
  bool kernelsOnly = false;
  bool codeOnly = false; ///< no match statistics, and no check of the rewrites where the code is the same
  std::vector<uint64_t> only = {};        ///< hashes of the inputs to replay; empty: all
  std::function<bool(size_t)> wants = {}; ///< whether to replay the input with this number, from 0; none: all
  std::vector<std::string> without = {};  ///< names of rules that must not apply
  std::function<void(const ReplayProgress&)> progress = {};
  const std::atomic<bool>* stop = nullptr; ///< ends the replay; finished inputs are kept
};

struct ReplaySummary {
  size_t ok = 0, failed = 0, crashed = 0, timedOut = 0, left = 0; ///< left: not reached when stopped
  size_t same = 0; ///< of `ok`: code and applied rules equal the stored ones
  int64_t wallNs = 0, compileNs = 0;
};

/// Throws Error(File) for files; the status of an input tells of its failure.
ReplaySummary replayCorpus(const std::string& corpus, const std::string& result,
                           const ReplayOptions& options);

} // namespace uopscope
