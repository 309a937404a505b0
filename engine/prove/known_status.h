// The statuses of docs/design/rules.md, which is embedded in the program. `uopscope stats` shows them beside
// rules.
//
//   knownStatus("engine/rules/identities.cpp", "div-one")     // "proved"; empty for a rule not in the page
#pragma once
#include <set>
#include <string>
#include <string_view>

namespace uopscope::prove {

std::string_view knownStatus(std::string_view file, std::string_view rule);
/// The names of all rules of the page, which is every rule of the program.
std::set<std::string_view> rulesOfPage();

} // namespace uopscope::prove
