#include "engine/tensor/known_rules.h"

#include "engine/rewrite/observer.h"
#include "engine/runtime/device.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/tensor/multi.h"
#include "engine/tensor/tensor.h"

namespace uopscope {

std::vector<const RuleDef*> knownRules() {
  static const bool primed = [] {
    ObserverScope unseen(nullptr);
    shardRules();
    try {
      Tensor x = Tensor::empty({4, 4}), y = x.matmul(x).relu().sum();
      Schedule schedule = Tensor::schedule({y});
      for (const ScheduleItem& item : schedule.items)
        if (item.ast.is(Op::SINK)) getKernel(item, Device::get("NULL"));
    } catch (const Error&) { // the rules used until then are known
    }
    return true;
  }();
  (void)primed;
  return rulesInUse();
}

} // namespace uopscope
