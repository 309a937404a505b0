// First-order linear recurrences along the last axis: each state is the state before, times a factor, plus a term.
// They are the derivatives of running products and running maxima, in work that grows linearly.
//
//   linearRecurrence(factors, terms)      s[0] = terms[0],  s[i] = factors[i] * s[i-1] + terms[i]
//   segmentSums(continues, terms)         s[0] = terms[0],  s[i] = (continues[i] ? s[i-1] : 0) + terms[i]
//
// Parts of eight are computed each by itself, then the last states of all parts in the same way, and each part continues the
// one before: a logarithmic number of steps, all of them elementwise.
#pragma once
#include "engine/tensor/tensor.h"

namespace uopscope {

/// The same values as a recurrence along the last axis reads them: stored with the axis first where there are rows for lanes.
/// What is computed from such tensors needs no turning.
Tensor asRecurrencesRead(const Tensor& t);
/// Whether that is with the axis first.
bool goesAlongFirst(const Tensor& t);

/// The states, for factors and terms of equal shape and type. factors[0] is not used.
Tensor linearRecurrence(const Tensor& factors, const Tensor& terms);
/// Sums that begin anew wherever `continues`, a boolean of the shape of `terms`, is false: what lies before does not
/// matter there, not even an infinity.
Tensor segmentSums(const Tensor& continues, const Tensor& terms);

} // namespace uopscope
