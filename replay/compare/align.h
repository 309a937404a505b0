// Pairs compilations whose inputs differ: kernels of the same script line or name, by the likeness of their
// graphs.
#pragma once
#include "replay/record/corpus.h"

namespace uopscope {

struct Pairing {
  std::optional<size_t> other; ///< index in the second list
  double likeness = 0;         ///< 0 ... 1: share of the nodes' kinds that both graphs have
};

/// For each of `before` its partner in `after`; a partner is taken once. A likeness below one third makes no
/// pair.
std::vector<Pairing> pairByLikeness(const Corpus& a, const std::vector<CorpusEntry>& before, const Corpus& b,
                                    const std::vector<CorpusEntry>& after);

/// Share of lines, sources aside, that two stored graphs have in common (weighted Jaccard).
double likeness(const std::string& graphA, const std::string& graphB);

} // namespace uopscope
