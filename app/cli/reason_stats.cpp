// uopscope stats --by reason: counts why rules declined nodes whose structure they match.
//
//   rule          declined  reason
//   lt-normal        1,204  nothing cancels and the bounds overlap
#include "app/cli/output.h"
#include "replay/schema/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::cli {

int reasonStats(const LookOptions& o) {
  Trace trace(o.trace);
  warnAbout(trace);
  const ScopeId scope = o.kernel.empty() ? 0 : trace.findScope(o.kernel);
  const PassId pass = o.pass.empty() ? 0 : trace.findPass(scope, o.pass);
  std::vector<DeclineTotal> all = trace.declines(scope, pass);
  if (!o.name.empty())
    std::erase_if(all, [&](const DeclineTotal& d) {
      return trace.rule(d.rule).name.find(o.name) == std::string::npos &&
             d.reason.find(o.name) == std::string::npos;
    });
  if (o.sort == "name")
    std::ranges::stable_sort(all, {}, [&](const DeclineTotal& d) { return trace.rule(d.rule).name; });
  const size_t limit = o.limit > 0 ? std::min(all.size(), static_cast<size_t>(o.limit)) : all.size();
  if (o.json) {
    Json out = Json::array();
    for (size_t k = 0; k < limit; ++k)
      out.push_back(Json{{"rule", trace.rule(all[k].rule).name},
                         {"at", fileLine(trace.rule(all[k].rule).at)},
                         {"declined", all[k].count},
                         {"reason", all[k].reason}});
    printJson(out);
    return kFine;
  }
  Table table({"rule", "declined", "reason"});
  int64_t total = 0;
  for (const DeclineTotal& d : all) total += d.count;
  for (size_t k = 0; k < limit; ++k)
    table.add({trace.rule(all[k].rule).name, countText(all[k].count), all[k].reason});
  table.print();
  fmt::print("{} reasons, given {} times\n", all.size(), countText(total));
  if (limit < all.size()) fmt::print("{} of {} shown; --limit 0 shows all\n", limit, all.size());
  return kFine;
}

} // namespace uopscope::cli
