// BEAM=n: optimisations of a kernel found by trying. Every round each of the n best is changed by one Opt in
// every way that fits, and each result is compiled and timed; it ends when nothing gets faster.
//
//   std::vector<Opt> best = searchOpts(ast, device, 4);   // for KernelInfo::optsToApply
//
// The hand-coded choice takes part, so a search never ends slower than it, up to the noise of timing. Results
// are kept on disk (IGNORE_BEAM_CACHE=1 searches again). The observer is told every candidate.
#pragma once
#include "engine/runtime/device.h"

namespace uopscope {

/// Whether BEAM asks for a search for this kernel and the device can time one.
bool wantsSearch(UOp ast, Device& device);
/// `ast` is a kernel from any pool; nodes are made in a pool of the search's own.
std::vector<Opt> searchOpts(UOp ast, Device& device, int width);
/// `ast` with optsToApply, in the current pool.
UOp withOpts(UOp ast, std::vector<Opt> opts);

} // namespace uopscope
