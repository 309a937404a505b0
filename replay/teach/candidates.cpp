#include "replay/teach/candidates.h"

#include "engine/base/error.h"
#include "engine/codegen/heuristic.h"
#include "replay/compare/recompile.h"
#include "replay/read/materialize.h"
#include "replay/teach/kernel_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace uopscope {
namespace {

std::vector<Opt> optsOf(const std::string& list) {
  std::vector<Opt> out;
  const auto parsed = nlohmann::json::parse(list, nullptr, false);
  if (parsed.is_array())
    for (const auto& text : parsed)
      if (const auto opt = text.is_string() ? parseOpt(text.get<std::string>()) : std::nullopt)
        out.push_back(*opt);
  return out;
}

std::string textOf(const std::vector<Opt>& opts) {
  std::string out;
  for (const Opt& o : opts)
    out += fmt::format("{}{}{}{}{}", out.empty() ? "" : "; ", optOpName(o.op),
                       o.axis < 0 ? "" : fmt::format(" {}", o.axis), o.arg.empty() ? "" : " ",
                       fmt::join(o.arg, " "));
  return out.empty() ? "none" : out;
}

/// The graph that the first Opt of the kernel changed; kNoNode where it had none.
NodeId graphBeforeOpts(Trace& trace, ScopeId kernel) {
  for (const PassInfo& p : trace.passes(kernel))
    if (p.depth == 0 && optOpFromName(p.name.substr(0, p.name.find(' ')))) return p.root;
  return kNoNode;
}

} // namespace

std::vector<PricedCandidate> pricedCandidates(Trace& trace, ScopeId kernel) {
  std::vector<PricedCandidate> out;
  const std::vector<CandidateInfo> found = trace.candidates(kernel);
  if (found.empty()) return out;
  const std::string chosen = textOf(optsOf(trace.artifact(kernel, "opts").value_or("")));
  Pool pool;
  PoolScope scope(pool);
  const NodeId root = graphBeforeOpts(trace, kernel);
  UOp ast;
  const Target* target = nullptr;
  try {
    if (root != kNoNode) {
      ast = Materializer(trace.nodes().reader(), pool)(root);
      target = KernelTarget(trace, kernel).target();
    }
  } catch (const Error&) { // a damaged trace: times without prices, as without the device
  }
  for (const CandidateInfo& c : found) {
    const std::vector<Opt> opts = optsOf(c.opts);
    PricedCandidate p{textOf(opts), c.ns, std::nullopt, c.message, false};
    p.chosen = p.opts == chosen;
    if (target) try {
        p.price = heuristic::priceOfOpts(ast, *target, opts);
      } catch (const Error&) { // Opts that do not fit this graph
      }
    out.push_back(std::move(p));
  }
  std::ranges::stable_sort(out, {}, [](const PricedCandidate& c) { return c.ns.value_or(INT64_MAX); });
  return out;
}

} // namespace uopscope
