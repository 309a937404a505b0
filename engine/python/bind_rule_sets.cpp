// The rule sets of the engine as Python objects, to inspect, extend and run.
//
//   builtin_matcher("symbolic").rules[0].pattern_text
//   (builtin_matcher("symbolic_simple") + mine).rewrite(node)
#include "engine/codegen/decompositions.h"
#include "engine/codegen/expander.h"
#include "engine/codegen/final_rules.h"
#include "engine/codegen/gpudims.h"
#include "engine/codegen/lane_rules.h"
#include "engine/codegen/locals.h"
#include "engine/codegen/memory.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/reduce.h"
#include "engine/codegen/spec.h"
#include "engine/codegen/well_formed.h"
#include "engine/python/bindings.h"
#include "engine/rules/load_collapse.h"
#include "engine/rules/rules.h"
#include "engine/schedule/tensor_spec.h"
#include "engine/uop/eval.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

/// The rule sets of passes that need no context.
const std::map<std::string, PatternMatcher, std::less<>>& sets() {
  static const std::map<std::string, PatternMatcher, std::less<>> all{
      {"symbolic_simple", symbolicSimple()},
      {"symbolic", symbolic()},
      {"sym", sym()},
      {"simplify_valid", simplifyValid()},
      {"drop_and_clauses", dropAndClauses()},
      {"move_where_on_load", moveWhereOnLoad()},
      {"push_gep", pushGep()},
      {"lower_index_dtype", lowerIndexDtype()},
      {"early", PatternMatcher({wellFormedRules()})},
      {"load_collapse", PatternMatcher({loadCollapseRules()})},
      {"split_ranges", PatternMatcher({splitRangeRules()})},
      {"flatten_range", PatternMatcher({flattenRangeRules()})},
      {"simplify_ranges", PatternMatcher({simplifyRangeRules()})},
      {"group_reduce", PatternMatcher({groupReduceRules()})},
      {"expander", PatternMatcher({expanderRules()})},
      {"add_local_buffers", PatternMatcher({localBufferRules()})},
      {"reduce", PatternMatcher({reduceRules()})},
      {"gpudims", PatternMatcher({gpuDimRules()})},
      {"add_loads", PatternMatcher({addLoadRules()})},
      {"devectorize", PatternMatcher({laneRules(), accessRules()})},
      {"decompositions", PatternMatcher({decompositionRules()})},
      {"transcendental", PatternMatcher({transcendentalRules(), jointFunctionRules()})},
      {"final", PatternMatcher({finalRules()})},
      {"kernel_spec", kernelSpec()},
      {"program_spec", programSpec()},
      {"tensor_spec", sched::tensorSpec()},
  };
  return all;
}

} // namespace

void bindRuleSets(py::module_& m) {
  m.def("builtin_matcher", [](const std::string& name) {
    auto it = sets().find(name);
    if (it == sets().end()) throw Error(ErrorKind::Key, fmt::format("no rule set is called {}", name));
    return it->second;
  });
  m.def("name_of_matcher", [](const PatternMatcher& matcher) {
    for (const auto& [name, set] : sets())
      if (matcher.identity() && set.identity() == matcher.identity()) return name;
    throw Error(ErrorKind::Type,
                "a matcher made of the engine's rules and others cannot be pickled: pickle its parts");
  });
  m.def("eval_alu", [](Op op, py::object dtype, const py::list& operands) {
    DType d = toDType(dtype).scalar();
    std::vector<ConstValue> values;
    for (py::handle h : operands) values.push_back(toConst(h));
    bool compares = op == Op::CMPLT || op == Op::CMPNE || op == Op::CMPEQ;
    return fromConst(evalAlu(op, compares ? dtypes::bool_ : d, d, values), compares ? dtypes::bool_ : d);
  });
}

} // namespace uopscope
