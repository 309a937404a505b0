// The candidates of a search (BEAM) with their measured times and, where the cost model knows such a tile, its price: what
// the model predicts beside the times that the machine measured.
//
//   for (const PricedCandidate& c : pricedCandidates(trace, kernel)) print(c.opts, c.ns, c.price);
//   // "UPCAST 0 4; UNROLL 0 8", 81234, 0.25
//
// Prices are made by the engine's model of today, on the graph that the kernel's first Opt changed. Nothing is compiled.
#pragma once
#include "replay/read/trace.h"

namespace uopscope {

struct PricedCandidate {
  std::string opts;            ///< as `whatif --opts` takes them; "none"
  std::optional<int64_t> ns;   ///< none: it did not run
  std::optional<double> price; ///< cycles a lane and step; none: it is no tile of the model
  std::string message;         ///< why it did not run
  bool chosen = false;
};
/// Fastest first; those that did not run come last. Empty where no search was made.
std::vector<PricedCandidate> pricedCandidates(Trace& trace, ScopeId kernel);

} // namespace uopscope
