// Large results past the caches: a store into a line that no cache holds first reads that line from memory. Where a kernel
// writes whole lines one after another, and more than the last cache keeps, a streamed store writes the line without the
// read, and leaves the caches to what is read.
//
//   out[i] = a[i] + b[i], 64 MB each:    STORE(INDEX(out, i * 8), x)   ->   STORE(INDEX(out, i * 8), x, arg='stream')
//
// Invariant: the argument is advice. A target without such stores, the interpreter among them, stores as always, and the
// numbers are the same. A kernel with streamed stores ends with a fence, so whoever waits for it sees the result.
#pragma once
#include "engine/codegen/target.h"

#include <span>
#include <string_view>

namespace uopscope {

inline bool isStreamed(UOp u) {
  return u.is(Op::STORE) && u.arg().kind() == ArgKind::String && u.arg().str() == "stream";
}

std::span<const RuleDef> streamedStoreRules();

/// Runs the rules as a pass of that name where stores of a processor's kernel are worth it; else no pass is begun. The graph is
/// ready to be linearised.
UOp streamStores(UOp sink, const Target& target, const PatternMatcher& rules, std::string_view pass);

} // namespace uopscope
