// Rules are data: at least 60 of 100 have an expression as their result, and no two share a name.
#include "engine/rewrite/rule.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

using namespace uopscope;

TEST_CASE("at least 60 of 100 rules have an expression as their result") {
  std::vector<const RuleDef*> rules = knownRules();
  auto data = std::count_if(rules.begin(), rules.end(), [](const RuleDef* r) { return r->hasExpression(); });
  std::string functions;
  for (const RuleDef* r : rules)
    if (!r->hasExpression()) functions += std::string(functions.empty() ? "" : ", ") + r->name;
  MESSAGE(data << " of " << rules.size() << " rules are expressions; functions: " << functions);
  CHECK(rules.size() > 350);
  CHECK(data * 100 >= static_cast<int64_t>(rules.size()) * 60);
}

TEST_CASE("a rule's name is its own, in kebab-case") {
  std::set<std::string_view> names;
  for (const RuleDef* r : knownRules()) {
    CAPTURE(r->name);
    CHECK(names.insert(r->name).second);
    CHECK(std::ranges::all_of(std::string_view(r->name), [](char c) {
      return c == '-' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    }));
  }
}
