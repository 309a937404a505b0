// Variants made from a trace: without one rewrite, or with another alternative of a decision. Opts that
// follow a tile are kept where they still fit the other one.
#include "engine/codegen/opt.h"
#include "engine/render/renderer.h"
#include "engine/runtime/device.h"
#include "replay/compare/recompile.h"
#include "replay/compare/stored_compilations.h"
#include "replay/read/decisions.h"
#include "replay/read/materialize.h"
#include "replay/read/step_search.h"
#include "replay/teach/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

namespace uopscope {

namespace {

StepPlace placeIn(Trace& trace, StepId step) {
  const auto at = placeOfStep(trace, step);
  if (!at)
    throw Error(
        ErrorKind::Key,
        fmt::format("{} has no step {}; its steps are counted from 1 (uopscope query TRACE \"SELECT id "
                    "FROM step\")",
                    trace.path(), step));
  return *at;
}

/// The Opts as they were applied.
std::vector<Opt> chosenOpts(const Compilation& kernel) {
  std::vector<Opt> out;
  const auto list = nlohmann::json::parse(kernel.opts, nullptr, false);
  if (!list.is_array()) return out;
  for (const auto& text : list)
    if (const auto opt = text.is_string() ? parseOpt(text.get<std::string>()) : std::nullopt)
      out.push_back(*opt);
  return out;
}

/// The Opt that a decision's reason begins with: "UPCAST axis 0 by 8: ..."
std::optional<Opt> optOf(const Decision& made) {
  std::istringstream in(made.reason.substr(0, made.reason.find(':')));
  std::string name, word;
  Opt opt;
  in >> name;
  const auto op = optOpFromName(name);
  if (!op) return std::nullopt;
  opt.op = *op;
  while (in >> word)
    if (int64_t n = 0; in >> n) {
      if (word == "axis")
        opt.axis = static_cast<int>(n);
      else
        opt.arg = {n};
    }
  return opt;
}

bool isSame(const Opt& whole, const Opt& told) {
  return whole.op == told.op && whole.axis == told.axis &&
         (told.arg.empty() || (!whole.arg.empty() && whole.arg[0] == told.arg[0]));
}

std::optional<Opt> optAt(Trace& trace, StepId step) {
  for (const Decision& d : decisionsAt(trace, step))
    if (auto opt = optOf(d)) return opt;
  return std::nullopt;
}

struct TilePart {
  int64_t amount = 0;
  std::string range; ///< "r1"
};

/// "32 of r1 with 4 of r0"; empty for any other text.
std::vector<TilePart> tileOf(const std::string& text) {
  std::vector<TilePart> parts;
  std::istringstream in(text);
  std::string of, with;
  do {
    TilePart part;
    if (!(in >> part.amount >> of >> part.range) || of != "of" || part.amount < 1) return {};
    parts.push_back(std::move(part));
  } while (in >> with && with == "with");
  return parts;
}

bool sameOthers(const Decision& a, const Decision& b) {
  return std::ranges::equal(a.others, b.others,
                            [](const auto& x, const auto& y) { return x.what == y.what; });
}

/// Applies parts of a tile to the kernel. The first part is the lanes, which come last.
void applyTile(KernelOptimizer& s, const std::vector<TilePart>& parts, const std::string& text) {
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const auto& ranges = s.ranges();
    const auto at = std::ranges::find(ranges, part->range, [](UOp r) { return r.render(); });
    if (at == ranges.end())
      throw Error(ErrorKind::Value,
                  fmt::format("alternative \"{}\": this build's kernel has no loop {}", text, part->range));
    const auto index = static_cast<size_t>(at - ranges.begin());
    const bool term = at->axisType() == AxisType::Reduce || at->axisType() == AxisType::GroupReduce;
    Opt opt{OptOp::UPCAST, static_cast<int>(index), {part->amount}};
    if (term) {
      int place = 0;
      for (const size_t a : s.axesOf({AxisType::GroupReduce, AxisType::Reduce}))
        place += a < index && s.extent(a) > 1;
      opt = {OptOp::UNROLL, place, {part->amount}};
    } else if (s.extent(index) % part->amount) {
      opt.arg.push_back(kOverlap);
    }
    s.apply(opt);
  }
}

} // namespace

ScopeId kernelOfStep(Trace& trace, StepId step) {
  const PassInfo pass = trace.pass(placeIn(trace, step).pass);
  const ScopeInfo& scope = trace.scope(pass.scope);
  if (scope.kind != ScopeKind::Kernel)
    throw Error(
        ErrorKind::Value,
        fmt::format("step {} is part of {}, which is no kernel; what-if compiles kernels", step, scope.name));
  return scope.id;
}

Variant variantWithoutStep(Trace& trace, StepId step) {
  const ScopeId kernel = kernelOfStep(trace, step);
  const StepPlace at = placeIn(trace, step);
  const PassInfo pass = trace.pass(at.pass);
  Variant v;
  if (const auto told = optAt(trace, step)) {
    std::vector<Opt> opts = chosenOpts(storedCompilation(trace, kernel));
    const auto here = std::ranges::find_if(opts, [&](const Opt& o) { return isSame(o, *told); });
    if (here != opts.end()) {
      v.name = fmt::format("without {} {}{}", optOpName(told->op), told->axis,
                           told->arg.empty() ? "" : fmt::format(" {}", told->arg[0]));
      opts.erase(here);
      v.opts = std::move(opts);
      return v;
    }
  }
  for (const PassInfo& p : trace.passes(kernel))
    for (const StepInfo& s : trace.steps(p.id)) v.rewrite += s.id <= step && s.kind != StepKind::RewriteError;
  v.rule = trace.rule(at.step.rule).name;
  v.name = fmt::format("without step {} of {} ({})", at.step.k, pass.name, v.rule);
  return v;
}

Variant variantAlternative(Trace& trace, StepId step, size_t number) {
  const ScopeId kernel = kernelOfStep(trace, step);
  const std::vector<Decision> here = decisionsAt(trace, step);
  const auto made = std::ranges::find_if(here, [](const Decision& d) { return !d.others.empty(); });
  if (made == here.end() || number < 1 || number > made->others.size())
    throw Error(ErrorKind::Key, fmt::format("step {} has {} alternatives; there is no alternative {}", step,
                                            made == here.end() ? 0 : made->others.size(), number));
  const std::string& text = made->others[number - 1].what;
  const std::vector<TilePart> parts = tileOf(text);
  if (parts.empty() || !optOf(*made))
    throw Error(ErrorKind::Value,
                fmt::format("alternative \"{}\" of step {} is no tile: --without-step {} shows the other way",
                            text, step, step));
  // All Opts of one tile have the same alternatives.
  std::vector<Opt> told;
  NodeId root = kNoNode;
  for (const DecidedStep& d : decidedSteps(trace, kernel))
    if (const auto opt = optOf(d.made); opt && sameOthers(d.made, *made)) {
      if (root == kNoNode) root = trace.pass(d.pass).root;
      told.push_back(*opt);
    }
  const Compilation stored = storedCompilation(trace, kernel);
  std::vector<Opt> before, after;
  bool reached = false; // the tile
  for (const Opt& o : chosenOpts(stored)) {
    const auto part = std::ranges::find_if(told, [&](const Opt& t) { return isSame(o, t); });
    if (part == told.end())
      (reached ? after : before).push_back(o);
    else
      told.erase(part), reached = true;
  }
  Pool pool;
  PoolScope scope(pool);
  KernelOptimizer s(Materializer(trace.nodes().reader(), pool)(root),
                    Device::get(stored.device).renderer().target());
  applyTile(s, parts, text);
  for (const Opt& o : after) try {
      s.apply(o);
    } catch (const Error&) { // it was made for the other tile
    }
  Variant v{.name = text, .opts = std::move(before)};
  v.opts->insert(v.opts->end(), s.applied().begin(), s.applied().end());
  return v;
}

} // namespace uopscope
