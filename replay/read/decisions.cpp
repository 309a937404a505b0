// Reads rows of the table decision. The alternatives are JSON from an untrusted file, so malformed ones are
// dropped.
#include "replay/read/decisions.h"

#include "replay/schema/printable.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace uopscope {
namespace {

constexpr int64_t kSince = 4; ///< first version of the schema with the table
constexpr size_t kMostOthers = 32;

std::vector<Decision::Alternative> alternatives(std::string_view text) {
  std::vector<Decision::Alternative> out;
  const nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array()) return out;
  for (const auto& entry : list) {
    if (out.size() == kMostOthers) break;
    if (!entry.is_object()) continue;
    const auto what = entry.find("what"), price = entry.find("price");
    if (what == entry.end() || !what->is_string() || price == entry.end() || !price->is_number()) continue;
    out.push_back({printable(what->get_ref<const std::string&>()), price->get<double>()});
  }
  return out;
}

Decisions read(Statement s) {
  Decisions out;
  while (s.step()) {
    Decision d{
        .reason = printable(s.text(1)), .unit = printable(s.text(3)), .others = alternatives(s.text(4))};
    if (!s.isNull(2) && std::isfinite(s.real(2))) d.price = s.real(2);
    out[s.integer(0)].push_back(std::move(d));
  }
  return out;
}

} // namespace

// The step ids of a pass lie in an interval, which also contains steps of nested passes.
Decisions decisionsOf(Trace& trace, PassId pass) {
  if (trace.database().pragma("user_version") < kSince) return {};
  const PassInfo info = trace.pass(pass);
  Statement s = trace.database().prepare(
      "SELECT decision.step, reason, price, unit, others FROM decision JOIN step ON step.id = decision.step "
      "WHERE decision.step BETWEEN ?1 AND ?2 AND step.pass = ?3 ORDER BY decision.step, decision.id");
  s.bind(1, info.firstStep).bind(2, info.lastStep).bind(3, pass);
  return read(std::move(s));
}

std::vector<DecidedStep> decidedSteps(Trace& trace, ScopeId scope) {
  std::vector<DecidedStep> out;
  for (const PassInfo& pass : trace.passes(scope)) {
    Decisions made = decisionsOf(trace, pass.id);
    if (made.empty()) continue;
    for (const StepInfo& step : trace.steps(pass.id))
      if (auto found = made.find(step.id); found != made.end())
        for (Decision& d : found->second) out.push_back({pass.id, step.k, std::move(d)});
  }
  return out;
}

std::vector<Decision> decisionsAt(Trace& trace, StepId step) {
  if (trace.database().pragma("user_version") < kSince) return {};
  Statement s = trace.database().prepare(
      "SELECT step, reason, price, unit, others FROM decision WHERE step = ? ORDER BY id");
  s.bind(1, step);
  Decisions found = read(std::move(s));
  return found.empty() ? std::vector<Decision>() : std::move(found.begin()->second);
}

std::string priceText(const std::optional<double>& price, const std::string& unit) {
  if (!price) return {};
  return fmt::format("{:.3g}{}{}", *price, unit.empty() ? "" : " ", unit);
}

std::string priceText(const Decision& decision) {
  std::string out = priceText(decision.price, decision.unit);
  for (size_t i = 0; i < decision.others.size() && !out.empty(); ++i)
    out +=
        fmt::format("{} {} ({:.3g})", i ? "," : "; else", decision.others[i].what, decision.others[i].price);
  return out;
}

std::string dearer(const Decision& decision, const Decision::Alternative& other) {
  if (!decision.price || *decision.price <= 0 || other.price <= 0) return {};
  const double ratio = other.price / *decision.price;
  if (ratio >= 2) return fmt::format("{:.1f} times", ratio);
  if (ratio >= 1) return fmt::format("{:.0f} % more", (ratio - 1) * 100);
  return fmt::format("{:.0f} % less", (1 - ratio) * 100);
}

} // namespace uopscope
