// The hash of the graph, mixed with what identifies a choice.
#include "engine/schedule/choice_numbers.h"

#include "engine/base/context_var.h"
#include "engine/base/hash.h"
#include "engine/rewrite/observer.h"

namespace uopscope::sched {

bool ChoiceNumbers::areAsked() {
  const Observer* observer = Observer::current();
  return vars::flip || (observer && observer->wantsRewrites());
}

int64_t ChoiceNumbers::of(std::initializer_list<uint64_t> choice) {
  if (!graph_) graph_ = sink_.key().first | 1;
  uint64_t mixed = graph_;
  for (uint64_t part : choice) mixed = mixHash(mixed, part);
  return static_cast<int64_t>(mixed % 999'999'999) + 1;
}

} // namespace uopscope::sched
