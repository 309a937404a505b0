// Chooses the variables that count, and makes the text anew only after one of them changed.
#include "replay/record/settings.h"

#include "engine/base/context_var.h"
#include "engine/rewrite/rule.h"
#include "engine/rules/user_rules.h"
#include "replay/record/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace uopscope {

namespace {
/// Settings that affect output, recording or speed of the run but not the compiled result.
bool isAboutOutput(std::string_view name) {
  static constexpr std::string_view names[] = {"DEBUG",
                                               "VIZ",
                                               "SPEC",
                                               "TRACK_MATCH_STATS",
                                               "CAPTURE_PROCESS_REPLAY",
                                               "CCACHE",
                                               "TRACEMETA",
                                               "IGNORE_BEAM_CACHE",
                                               "JIT",
                                               "REWRITE_STACK_LIMIT"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}
} // namespace

const std::string& Settings::json() {
  uint64_t values = userRulesVersion() + 1;
  for (const ContextVar* v : ContextVar::all()) values = hashMix(values, static_cast<uint64_t>(v->value()));
  if (values == values_) return json_;
  values_ = values;
  nlohmann::ordered_json j = nlohmann::ordered_json::object();
  for (const ContextVar* v : ContextVar::all())
    if (!isAboutOutput(v->name())) j[v->name()] = v->value();
  nlohmann::ordered_json lists = nlohmann::ordered_json::array();
  for (const UserRuleList& list : userRules()) {
    nlohmann::ordered_json& names = lists.emplace_back(nlohmann::ordered_json::array({list.where}));
    for (const auto& rule : list.rules->rules())
      names.push_back(fmt::format("{}:{:08x}", rule->name(), hashText(rule->text()) >> 32));
  }
  if (!lists.empty()) j[kRulesOfScripts] = lists;
  return json_ = j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace uopscope
