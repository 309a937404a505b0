// What a pass of the compiler would do to a graph, asked without doing it.
//
//   HandOffers offers = offersOf(kernelPasses()[11], graph, target);
//   for (const auto& o : offers.all) print(o.rule->name());
//
// Every rewrite of the pass is answered with Skip, so that the next rule is tried and the graph stays as it is. Passes
// nested in a rule run: the rule needs their results. Rewrites are in the order in which the pass walks the graph.
#pragma once
#include "engine/codegen/kernel_passes.h"
#include "engine/rewrite/rule.h"

namespace uopscope {

struct HandOffers {
  struct Offer {
    const Rule*
        rule; ///< valid as long as the matcher of the pass, which lives as long as the process or the script's rules
    UOp before, after;
    std::string reason;
  };
  std::vector<Offer> all;
  std::string why; ///< why the pass ended early; empty: it was asked to its end
};
HandOffers offersOf(const KernelPass& pass, UOp graph, const Target& target);

} // namespace uopscope
