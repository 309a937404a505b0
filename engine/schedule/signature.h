// The signature of a schedule: everything it depends on, as a list of numbers. Graphs with equal signatures
// get the same kernels.
//
// One walk over the tensor graph, without making a node: buffers are numbered as they come, values of bound
// variables are left out, every other field is in. Equality of signatures is equality of structure, so a hit
// of the cache needs no further check than comparing them.
#pragma once
#include "engine/uop/uop.h"

#include <map>
#include <string>
#include <vector>

namespace uopscope::sched {

struct BoundVariable {
  int64_t value = 0;
  UOp bind;
};

struct Signature {
  std::vector<uint64_t> words;
  std::vector<UOp> nodes; ///< in topological order; their positions are what a cached schedule knows them by
  std::vector<UOp> buffers; ///< in order of first appearance
  std::vector<UOp> uniques; ///< of constants that are unlike any other, in order of first appearance
  std::vector<bool> held;   ///< by node: a Tensor or Python object holds it
  std::map<std::string, BoundVariable> variables;

  /// 128 bits.
  std::pair<uint64_t, uint64_t> key() const;
};

/// Throws Error(Value) where a variable is bound to two values.
Signature signatureOf(UOp sink);

} // namespace uopscope::sched
