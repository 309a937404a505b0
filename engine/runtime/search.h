// BEAM=n: Opts of a kernel found by search. In every round each of the n best kernels is changed by one Opt
// in all possible ways, and each result is compiled and timed. The search ends when no result is faster.
//
//   std::vector<Opt> best = searchOpts(ast, device, 4);   // for KernelInfo::optsToApply
//
// The heuristic's Opts are among the candidates, so the result is never slower than these, up to the noise of
// timing. Results are kept on disk (IGNORE_BEAM_CACHE=1 searches again). The observer is told of every
// candidate.
#pragma once
#include "engine/runtime/device.h"

namespace uopscope {

/// Whether BEAM asks for a search for this kernel and the device can time kernels.
bool wantsSearch(UOp ast, Device& device);
/// `ast` is a kernel of any pool. The search makes its nodes in a pool of its own.
std::vector<Opt> searchOpts(UOp ast, Device& device, int width);
/// `ast` with these Opts as optsToApply, in the current pool.
UOp withOpts(UOp ast, std::vector<Opt> opts);

} // namespace uopscope
