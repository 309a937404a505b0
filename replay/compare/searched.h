// The search of BEAM over the kernels of a corpus, cut into parts and kept in a file that is text (JSON): of each
// kernel every candidate with its time, and the Opts that were fastest.
//
//   Searches part = searchCorpus("model.uopcorpus", {.width = 2, .wants = [](size_t k) { return k % 4 == 1; }});
//   writeSearches(part, "2-of-4.uopsearch");
//   Searches all = mergeSearches({readSearches("1-of-4.uopsearch"), ...});
//   useSearches(all);                                     // later compilations with BEAM=2 take these results
//
// A kernel is searched in one part, on one machine, so its times are comparable. A kernel that crashes or takes too
// long costs its own process only. A file from anywhere is data: Opts that do not fit a kernel are not taken.
#pragma once
#include "engine/codegen/opt.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace uopscope {

struct SearchedCandidate {
  std::vector<Opt> opts;
  int round = 0;
  int64_t ns = -1; ///< -1: refused
  std::string refusal;
};

struct SearchedKernel {
  size_t number = 0; ///< among the kernels of the corpus, from 0
  std::string name, device;
  std::string content; ///< searchContent(); empty where the kernel was not searched
  std::string machine; ///< on which its candidates were timed
  std::string skipped; ///< why it was not searched, or how the search failed; empty otherwise
  int64_t noLocals = 0, tensorCores = 0, onlyCore = -1; ///< NOLOCALS, TC and TC_SELECT
  std::vector<Opt> best;
  std::vector<SearchedCandidate> candidates;
};

struct Searches {
  std::string corpus; ///< hash of the corpus' kernels
  size_t kernels = 0; ///< of the whole corpus
  int width = 0;
  std::string build;
  std::vector<SearchedKernel> found; ///< by number
};

struct SearchCorpusOptions {
  int width = 2;
  int timeoutSeconds = 600;               ///< of one kernel
  std::function<bool(size_t)> wants = {}; ///< whether to search the kernel with this number; none: all
  std::function<void(size_t done, size_t total, const std::string& name)> progress = {};
  const std::atomic<bool>* stop = nullptr;
};

/// Throws Error(File) for a corpus that cannot be read.
Searches searchCorpus(const std::string& corpus, const SearchCorpusOptions& options);
/// Throws Error(Value) for parts of different searches, a kernel that is missing, or in two parts with different
/// candidates.
Searches mergeSearches(const std::vector<std::pair<std::string, Searches>>& parts);
void writeSearches(const Searches& searches, const std::string& path);
/// Throws Error(File) for anything else than such a file.
Searches readSearches(const std::string& path);

struct SearchesUsed {
  size_t kept = 0;             ///< kernels whose Opts later compilations take
  size_t elsewhere = 0;        ///< of these, timed on a machine of another description
  std::vector<std::string> no; ///< kernels of devices that are not here
};
/// Keeps the results for later compilations by this build. Throws Error(Unsupported) where nothing is kept.
SearchesUsed useSearches(const Searches& searches);

} // namespace uopscope
