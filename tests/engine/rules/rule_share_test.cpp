// Rules are data: at least 60 of 100 have an expression as their result, and no two share a name.
#include "engine/codegen/spec.h"
#include "engine/schedule/tensor_spec.h"
#include "engine/tensor/gradient.h"
#include "engine/tensor/known_rules.h"
#include "engine/transform/batch.h"
#include "engine/transform/tangent.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

using namespace uopscope;

namespace {

/// The rules of the engine without the rules of tests, which are in use as well.
std::vector<const RuleDef*> engineRules() {
  gradientRules(), tangentRules(), batchRules(), kernelSpec(), programSpec(), sched::tensorSpec();
  std::vector<const RuleDef*> rules = knownRules();
  std::erase_if(rules, [](const RuleDef* r) { return std::string_view(r->file).ends_with("_test.cpp"); });
  return rules;
}

} // namespace

TEST_CASE("at least 60 of 100 rules have an expression as their result") {
  std::vector<const RuleDef*> rules = engineRules();
  auto data = std::count_if(rules.begin(), rules.end(), [](const RuleDef* r) { return r->hasExpression(); });
  std::string functions;
  for (const RuleDef* r : rules)
    if (!r->hasExpression()) functions += std::string(functions.empty() ? "" : ", ") + r->name;
  MESSAGE(data << " of " << rules.size() << " rules are expressions; functions: " << functions);
  CHECK(rules.size() > 350);
  CHECK(data * 100 >= static_cast<int64_t>(rules.size()) * 60);
}

TEST_CASE("a rule's name is its own, in kebab-case") {
  std::map<std::string, const RuleDef*> named;
  for (const RuleDef* r : engineRules()) {
    CAPTURE(r->name);
    auto [known, isNew] = named.emplace(r->name, r);
    bool sameRule =
        !isNew && known->second->file == std::string_view(r->file) && known->second->line == r->line;
    CHECK((isNew || sameRule));
    std::string_view name = r->name;
    CHECK(std::all_of(name.begin(), name.end(),
                      [](char c) { return c == '-' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }));
  }
}
