// MAX_KERNEL_BUFFERS: a kernel that would read more buffers stores a part first, and the value stays the
// same.
#include "engine/base/context_var.h"
#include "engine/rewrite/observer.h"
#include "engine/rewrite/rule.h"
#include "engine/tensor/tensor.h"

#include <doctest/doctest.h>

using namespace uopscope;

namespace {
struct Applied : Observer {
  Control onRewrite(const RewriteEvent& e) override {
    count += e.rule->name() == "limit-buffers";
    return Control::Apply;
  }
  int count = 0;
};
} // namespace

TEST_CASE("a sum of ten buffers is cut where a kernel takes four") {
  std::vector<Tensor> parts;
  for (int64_t k = 0; k < 10; ++k)
    parts.push_back(
        Tensor::full({Sint(5)}, ConstValue::ofFloat(static_cast<double>(k))).contiguous().realize());
  auto sum = [&] {
    Tensor all = parts[0];
    for (size_t k = 1; k < parts.size(); ++k) all = all.add(parts[k]);
    return all;
  };
  CHECK(Tensor::schedule({sum()}).items.size() == 1);
  ContextScope limited({{"MAX_KERNEL_BUFFERS", 4}});
  CHECK(sum().values<float>() == std::vector<float>(5, 45));
  parts.pop_back();
  Applied applied;
  ObserverScope watch(&applied);
  Schedule schedule = Tensor::schedule({sum()});
  CHECK(applied.count > 0);
  CHECK(schedule.items.size() > 1);
  for (const ScheduleItem& item : schedule.items) CHECK(item.buffers.size() <= 4);
}
