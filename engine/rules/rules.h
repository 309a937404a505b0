// The rule sets of the symbolic engine, which simplify expressions everywhere in the compiler.
//
//   UOp better = graphRewrite(sink, symbolic(), {.name = "initial symbolic"});
//   static const PatternMatcher mine = sym() + PatternMatcher({kMine});
//
// Each set contains the sets named in its description. Each file of this folder holds one family of rules.
// Integers of dtype index are assumed not to overflow; all other integers wrap. Division truncates.
#pragma once
#include "engine/rewrite/matcher.h"

namespace uopscope {

/// Constant folding, identities, casts, simple WHERE folding, propagation of Invalid.
const PatternMatcher& symbolicSimple();
/// symbolicSimple and all safe identities: sums in normal form, division and remainder, comparisons, bounds,
/// boolean algebra, WHERE, casts, pushGep. UOp::simplify() uses it.
const PatternMatcher& symbolic();
/// symbolic, simplifyValid, and rules for kernels: memory, reductions, reciprocals, effects, casts moved into
/// branches.
const PatternMatcher& sym();
/// Gates, and the indices behind gates: AND of conditions, WHERE(condition, index, Invalid).
const PatternMatcher& simplifyValid();
/// Drops clauses of a gate that share no range with the index behind it.
const PatternMatcher& dropAndClauses();
/// WHERE(condition, load, 0) becomes a gated load.
const PatternMatcher& moveWhereOnLoad();
/// GEP of VECTORIZE, of GEP, of constants, through arithmetic, CAT and WMMA.
const PatternMatcher& pushGep();
/// dtype index becomes int32, or int64 if bounds require it. Gates of INDEX become its third source.
const PatternMatcher& lowerIndexDtype();

} // namespace uopscope
