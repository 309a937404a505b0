// Proves the rules that a script defines.
#include "engine/python/bind_prove.h"

#include "engine/prove/report.h"
#include "engine/tensor/operation_scope.h"
#include "engine/tensor/tensor_memory.h"

#include <pybind11/stl.h>

namespace uopscope {

namespace py = pybind11;

void bindProve(py::module_& m) {
  m.def(
      "prove_rules",
      [](const std::vector<std::shared_ptr<Rule>>& rules, const std::string& rule, unsigned milliseconds,
         bool json) {
        PoolScope scope(tensorPool());
        NodesHeld held;
        prove::ProveOptions options;
        options.rule = rule;
        options.pool = &tensorPool();
        if (milliseconds) options.milliseconds = milliseconds;
        auto proofs = prove::proveRules({rules.begin(), rules.end()}, options);
        return py::make_tuple(json ? prove::reportJson(proofs) : prove::reportText(proofs),
                              prove::allHold(proofs));
      },
      py::arg("rules"), py::arg("rule") = "", py::arg("milliseconds") = 0, py::arg("json") = false,
      "The statuses of rules as text, and whether none is refuted.");
}

} // namespace uopscope
