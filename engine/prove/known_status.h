// The statuses of docs/design/rules.md, which is embedded in the program. `uopscope stats` shows them beside
// rules.
//
//   knownStatus("engine/rules/identities.cpp", "div-one")     // "proved"; empty for a rule not in the page
#pragma once
#include <string>
#include <string_view>

namespace uopscope::prove {

std::string_view knownStatus(std::string_view file, std::string_view rule);

} // namespace uopscope::prove
