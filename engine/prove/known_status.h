// The statuses of docs/design/rules.md, which the program carries: what `uopscope stats` shows beside a rule.
//
//   knownStatus("engine/rules/identities.cpp", "div-one")     // "proved"; empty for a rule that is not in
//   the page
#pragma once
#include <string>
#include <string_view>

namespace uopscope::prove {

std::string_view knownStatus(std::string_view file, std::string_view rule);

} // namespace uopscope::prove
