// BEAM=n: Opts of a kernel found by search. In every round each of the n best kernels is changed by one Opt
// in all possible ways (one more, one less, another amount, another order), and each result is compiled and
// timed. The search ends when no result is faster.
//
//   std::vector<Opt> best = searchOpts(ast, device, 4);   // for KernelInfo::optsToApply
//
// The heuristic's Opts are among the candidates, so the result is never slower than these, up to the noise of
// timing. Results are kept on disk (IGNORE_BEAM_CACHE=1 searches again). The observer is told of every
// candidate.
#pragma once
#include "engine/runtime/device.h"

#include <optional>
#include <string>
#include <vector>

namespace uopscope {

/// Whether BEAM asks for a search for this kernel and the device can time kernels.
bool wantsSearch(UOp ast, Device& device);
/// `ast` is a kernel of any pool. The search makes its nodes in a pool of its own.
std::vector<Opt> searchOpts(UOp ast, Device& device, int width);

/// A kernel that a search compiled, and timed unless it was refused.
struct SearchCandidate {
  std::vector<Opt> opts;
  int round = 0;   ///< 0: as it is and by the heuristic; their changes by one Opt are round 1
  int64_t ns = -1; ///< shortest launch; -1 where it was refused
  std::string refusal;
};
struct SearchResult {
  std::vector<Opt> best;
  std::vector<SearchCandidate> candidates; ///< in the order they were considered
};
/// Searches, whatever is kept. Candidates up to round 1 do not depend on times if `width` is 2 or more.
SearchResult searchAnew(UOp ast, Device& device, int width);
/// Names the kernel by its content: 32 hexadecimal digits, the same in every process on every machine.
std::string searchContent(UOp ast);
/// Keeps Opts for later compilations of that kernel by this build with BEAM=width, as a search of this machine does.
/// False where nothing is kept (CCACHE=0, no home directory).
bool keepSearched(const std::string& content, Device& device, int width, const std::vector<Opt>& opts);
/// Opts in the form they are stored in: [["UPCAST", 0, [4]], ...]; nothing for any other text.
std::string packOpts(const std::vector<Opt>& opts);
std::optional<std::vector<Opt>> unpackOpts(const std::string& text);
/// `ast` with these Opts as optsToApply, in the current pool.
UOp withOpts(UOp ast, std::vector<Opt> opts);

} // namespace uopscope
