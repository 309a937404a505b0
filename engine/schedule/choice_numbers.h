// Numbers of the choices of a schedule, by which FLIP names them: the same in every process that schedules the same graph.
//
//   ChoiceNumbers numbers(sink);
//   if (ChoiceNumbers::areAsked()) number = numbers.of({position});
#pragma once
#include "engine/uop/uop.h"

#include <initializer_list>

namespace uopscope::sched {

class ChoiceNumbers {
public:
  /// `sink`: the graph before the pass that makes the choices.
  explicit ChoiceNumbers(UOp sink) : sink_(sink) {}

  /// Numbers cost a walk over the graph; only an observer or FLIP asks for them.
  static bool areAsked();
  /// The number of the choice that these numbers identify in the graph.
  int64_t of(std::initializer_list<uint64_t> choice);

private:
  UOp sink_;
  uint64_t graph_ = 0; ///< hash of it, once asked for
};

} // namespace uopscope::sched
