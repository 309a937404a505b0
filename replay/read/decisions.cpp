// The table `decision` of one scope, with the number of each step in its pass.
#include "replay/read/decisions.h"

#include "replay/schema/printable.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

namespace uopscope {

std::vector<DecisionInfo> decisionsOf(Trace& trace, ScopeId scope) {
  std::vector<DecisionInfo> out;
  Statement s = trace.database().prepare(
      "SELECT decision.step, step.pass, step.rule, decision.reason, decision.price, decision.unit, "
      "decision.others FROM decision JOIN step ON step.id = decision.step JOIN pass ON pass.id = step.pass "
      "WHERE pass.scope = ? ORDER BY decision.id");
  for (s.bindId(1, scope); s.step();) {
    DecisionInfo d;
    d.step = s.integer(0), d.pass = s.integer(1), d.rule = s.integer(2);
    d.reason = printable(s.text(3)), d.unit = printable(s.text(5));
    if (!s.isNull(4)) d.price = s.real(4);
    const auto others = nlohmann::json::parse(s.text(6), nullptr, false);
    if (others.is_array())
      for (const auto& o : others)
        if (o.is_object() && o.contains("what") && o["what"].is_string() && o.contains("price") &&
            o["price"].is_number())
          d.others.push_back({printable(o["what"].get<std::string>()), o["price"].get<double>()});
    out.push_back(std::move(d));
  }
  std::map<PassId, std::vector<StepInfo>> steps;
  for (DecisionInfo& d : out) {
    auto known = steps.find(d.pass);
    if (known == steps.end()) known = steps.emplace(d.pass, trace.steps(d.pass)).first;
    for (const StepInfo& step : known->second)
      if (step.id == d.step) d.k = step.k;
  }
  return out;
}

std::string priceText(const DecisionInfo& d) {
  if (!d.price) return {};
  std::string out = fmt::format("{:.3g} {}", *d.price, d.unit);
  for (size_t i = 0; i < d.others.size(); ++i)
    out += fmt::format("{} {} ({:.3g})", i ? "," : "; else", d.others[i].what, d.others[i].price);
  return out;
}

} // namespace uopscope
