// The signature of a schedule: everything that the schedule depends on, as a list of numbers. Graphs with
// equal signatures get the same kernels.
//
//   Signature a = signatureOf(sink);        // sink: x + 1;  y + 1 of another buffer y has the same words
//
// One walk over the tensor graph makes the list, without making a node. Buffers are numbered in order of
// appearance, values of bound variables are left out, and all other fields are included. Equal signatures
// mean equal structure, so a hit in the cache needs no further check.
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
  std::vector<UOp> nodes;   ///< in topological order; a cached schedule refers to nodes by position
  std::vector<UOp> buffers; ///< in order of first appearance
  std::vector<UOp> uniques; ///< UNIQUEs of constants, in order of first appearance
  std::vector<bool> held;   ///< per node: whether a Tensor or Python object holds it
  std::map<std::string, BoundVariable> variables;

  /// A hash of 128 bits.
  std::pair<uint64_t, uint64_t> key() const;
};

/// Whether a Tensor or a Python object holds this value. A schedule stores such a value in its own shape.
bool isHeld(UOp u);

/// Throws Error(Value) if a variable is bound to two values.
Signature signatureOf(UOp sink);

} // namespace uopscope::sched
