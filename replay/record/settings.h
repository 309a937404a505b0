// The context variables that decide the result of a compilation (NOOPT, BEAM, ...), as JSON: the part of the
// compiler's input that no graph holds. Settings about output, recording and caches are left out. Rules that a
// script added (rules_after, the matchers of a renderer) are named with a hash of their source, place by place.
//
//   Settings settings;
//   settings.json();   // {"NOOPT":0,...}; where no value changed, this only costs a hash of the values
//                      // {"NOOPT":0,...,"rules of scripts":[["after initial symbolic","power_of_two:5f0c9a31"]]}
#pragma once
#include <cstdint>
#include <string>

namespace uopscope {

/// The key of the rules of scripts: a list of lists, the place first, then the rules as NAME:HASH.
constexpr const char* kRulesOfScripts = "rules of scripts";

class Settings {
public:
  const std::string& json();

private:
  uint64_t values_ = 0;
  std::string json_;
};

} // namespace uopscope
