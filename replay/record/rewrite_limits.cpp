// The destructor of the gate writes the report, so a script that raised gets one too.
#include "replay/record/rewrite_limits.h"

#include "engine/base/error.h"
#include "engine/rewrite/rule.h"
#include "engine/uop/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace uopscope {

bool isOptionalRule(const Rule& rule) {
  static constexpr std::string_view files[] = {"sums.cpp",  "divmod.cpp",     "compare.cpp", "minmax.cpp",
                                               "where.cpp", "identities.cpp", "folding.cpp", "boolean.cpp",
                                               "power.cpp", "valid.cpp",      "cast.cpp"};
  const std::string_view file = rule.file();
  if (file.ends_with(".py")) return true;
  if (file.find("engine/rules/") == std::string_view::npos) return false;
  return std::any_of(std::begin(files), std::end(files),
                     [&](std::string_view f) { return file.ends_with(f); });
}

RewriteLimits RewriteLimits::fromEnvironment() {
  RewriteLimits limits;
  if (const char* names = std::getenv("UOPSCOPE_WITHOUT")) {
    const std::string_view all = names;
    for (size_t at = 0; at < all.size();) {
      const size_t comma = std::min(all.find(',', at), all.size());
      if (comma > at) limits.without.emplace(all.substr(at, comma - at));
      at = comma + 1;
    }
  }
  if (const char* fuel = std::getenv("UOPSCOPE_FUEL")) {
    char* end = nullptr;
    limits.fuel = std::strtoull(fuel, &end, 10);
    if (end == fuel || *end)
      throw Error(ErrorKind::Value, fmt::format("UOPSCOPE_FUEL={}: give a number of rewrites", fuel));
  }
  if (const char* report = std::getenv("UOPSCOPE_FUEL_REPORT")) limits.report = report;
  return limits;
}

LastRewrite LastRewrite::read(const std::string& path) {
  std::ifstream in(path);
  const auto j = nlohmann::json::parse(in, nullptr, false);
  if (!j.is_object())
    throw Error(
        ErrorKind::File,
        fmt::format("{}: no report: the script ended before the compiler was asked for anything", path));
  return {j.value("optional", size_t{0}),
          j.value("rule", ""),
          j.value("at", ""),
          j.value("kernel", ""),
          j.value("pass", ""),
          j.value("before", ""),
          j.value("after", "")};
}

LimitGate::~LimitGate() {
  if (limits_.report.empty()) return;
  try {
    std::ofstream(limits_.report) << nlohmann::json{{"optional", used_},   {"rule", last_.rule},
                                                    {"at", last_.at},      {"kernel", last_.kernel},
                                                    {"pass", last_.pass},  {"before", last_.before},
                                                    {"after", last_.after}}
                                         .dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
  } catch (const std::exception&) { // the reader finds no report, and says so
  }
}

void LimitGate::onScopeBegin(const ScopeBegin& begin) {
  scopes_.emplace_back(begin.name);
  inner().onScopeBegin(begin);
}
void LimitGate::onScopeEnd() {
  if (!scopes_.empty()) scopes_.pop_back();
  inner().onScopeEnd();
}
void LimitGate::onPassBegin(const PassBegin& begin) {
  passes_.emplace_back(begin.name);
  inner().onPassBegin(begin);
}
void LimitGate::onPassEnd(const PassEnd& end) {
  if (!passes_.empty()) passes_.pop_back();
  inner().onPassEnd(end);
}

Control LimitGate::onRewrite(const RewriteEvent& event) {
  if (limits_.without.contains(event.rule->name())) return Control::Skip;
  if (!isOptionalRule(*event.rule)) return ForwardingObserver::onRewrite(event);
  if (used_ >= limits_.fuel) return Control::Skip;
  const Control answer = ForwardingObserver::onRewrite(event);
  if (answer == Control::Skip) return answer;
  if (++used_ == limits_.fuel && !limits_.report.empty()) {
    last_.rule = event.rule->name();
    last_.at = fmt::format("{}:{}", event.rule->file(), event.rule->line());
    last_.kernel = scopes_.empty() ? "" : scopes_.back();
    last_.pass = passes_.empty() ? "" : passes_.back();
    last_.before = expression(event.before, 5, 300);
    last_.after = event.after ? expression(event.after, 5, 300) : "";
  }
  return answer;
}

} // namespace uopscope
