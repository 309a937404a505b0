// Passes of a trace are mapped to the table of this build by their names and their order: "initial symbolic" after "cut
// store ranges" is a part of that pass, which begins again as a whole.
#include "replay/teach/hand_place.h"

#include "engine/base/error.h"
#include "engine/codegen/kernel_passes.h"
#include "replay/compare/recompile.h"
#include "replay/read/link.h"
#include "replay/read/step_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

namespace uopscope {
namespace {

constexpr std::string_view kAfterRules = "after ", kBehindOpts = "optimisations";

std::optional<size_t> tableIndex(std::string_view name) {
  const auto names = kernelPassNames();
  const auto at = std::ranges::find(names, name);
  return at == names.end() ? std::nullopt : std::optional(static_cast<size_t>(at - names.begin()));
}

[[noreturn]] void insideOpt(const PassInfo& pass) {
  throw Error(
      ErrorKind::Value,
      fmt::format("an Opt is applied as a whole: go to the beginning (step 0) of the first pass of {}, or to "
                  "the end of its last",
                  pass.name));
}

/// Passes behind the Opts that are made once: they give the kernel memory of its own, or its blocks an order.
bool isMadeOnce(std::string_view pass) {
  return pass == "inner values" || pass == "panels" || pass == "order of blocks" || pass == "shared operands";
}

/// Splits the Opts of the kernel into those whose passes lie before the place and those left. `passes`: the passes of Opts
/// in order, `before` of them done. An Opt may take several passes of its name.
void splitOpts(HandStart& start, const std::vector<Opt>& opts, const std::vector<std::string>& passes,
               size_t before, const PassInfo& at) {
  size_t p = 0, done = 0;
  for (size_t o = 0; o < opts.size();) {
    const std::string_view name = optOpName(opts[o].op);
    size_t count = 0, taken = 0;
    while (o + count < opts.size() && opts[o + count].op == opts[o].op) ++count;
    while (p + taken < passes.size() && passes[p + taken] == name) ++taken;
    const size_t each = taken / count; // 0: an Opt that changes no node, such as NOLOCALS
    for (size_t k = 0; k < count; ++k, p += each) {
      if (each == 0 ? p < before : p + each <= before)
        ++done;
      else if (p < before)
        insideOpt(at);
    }
    p += taken - each * count;
    o += count;
  }
  start.done.assign(opts.begin(), opts.begin() + static_cast<ptrdiff_t>(done));
  start.left.assign(opts.begin() + static_cast<ptrdiff_t>(done), opts.end());
}

std::vector<Opt> optsOf(const Compilation& stored) {
  std::vector<Opt> out;
  const auto list = nlohmann::json::parse(stored.opts, nullptr, false);
  if (list.is_array())
    for (const auto& text : list)
      if (const auto opt = text.is_string() ? parseOpt(text.get<std::string>()) : std::nullopt)
        out.push_back(*opt);
  return out;
}

} // namespace

UOp HandStart::pin(UOp graph, UOp input) const {
  if (graph.arg().kind() != ArgKind::Kernel) return graph;
  KernelInfo info = graph.arg().as<KernelInfo>();
  if (amongOpts) {
    info.appliedOpts = done;
    info.hasOptsToApply = true, info.optsToApply = left;
  } else if (const auto behind = tableIndex(kBehindOpts); behind && next <= *behind) {
    if (input.arg().kind() != ArgKind::Kernel) return graph;
    const auto& given = input.arg().as<KernelInfo>();
    info.hasOptsToApply = given.hasOptsToApply, info.optsToApply = given.optsToApply;
  }
  return graph.withArg(Arg::of(info));
}

HandStart handStart(Trace& trace, const PassInfo& pass, int64_t step, const Compilation& stored) {
  HandStart start;
  const auto behind = tableIndex(kBehindOpts);
  size_t group = 0, before = 0;
  bool reached = false;
  std::string memory; ///< a pass before the place that gave the kernel memory
  std::vector<std::string> optPasses;
  for (const PassInfo& p : trace.passes(pass.scope)) {
    if (p.depth > 0) continue;
    if (!reached) {
      const auto own = tableIndex(p.name);
      const bool added = p.name.starts_with(kAfterRules);
      if (own && *own >= group) group = *own;
      if (added)
        if (const auto of = tableIndex(p.name.substr(kAfterRules.size())); of && *of >= group) group = *of;
      start.amongOpts = !own && !added && behind && group > 0 && group < *behind;
      start.next = added || (!own && group + 1 == kernelPasses().size()) ? group + 1 : group;
    }
    if (!reached && isMadeOnce(p.name) && p.steps > 0 && (p.id != pass.id || step > 0)) memory = p.name;
    const bool isOpt = optOpFromName(p.name).has_value();
    reached |= p.id == pass.id;
    if (isOpt && (!reached || (p.id == pass.id && step == p.steps))) before = optPasses.size() + 1;
    if (isOpt) optPasses.push_back(p.name);
    if (isOpt && p.id == pass.id && step > 0 && step < p.steps) insideOpt(pass);
  }
  start.next = std::max<size_t>(start.next, 1);
  if (!start.amongOpts) return start;
  if (!memory.empty())
    throw Error(
        ErrorKind::Value,
        fmt::format(
            "\"{}\" gave the kernel memory of its own, which it would get a second time: go to a step "
            "before it, or to step 0 of \"{}\"",
            memory, kernelPassNames()[*behind + 1]));
  start.next = *behind;
  splitOpts(start, optsOf(stored), optPasses, before, pass);
  return start;
}

HandPlace wholePlace(Trace& trace, HandPlace place) {
  for (PassInfo pass = trace.pass(place.pass); pass.depth > 0 && pass.parent; pass = trace.pass(place.pass))
    place = {pass.parent, pass.parentSteps};
  return place;
}

HandPlace handPlace(Trace& trace, const std::string& text, const std::string& kernel) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) {
    const auto at = placeOfStep(trace, number);
    if (!at)
      throw Error(ErrorKind::Key,
                  fmt::format("{} has no step {}; its steps are counted from 1", trace.path(), number));
    return {at->pass, at->step.k};
  }
  Link link = Link::parse(text);
  if (link.kernel.empty()) link.kernel = kernel;
  if (link.kernel.empty() || link.pass.empty())
    throw Error(ErrorKind::Value,
                fmt::format("\"{}\" is no place: give the number of a step, such as 826, or a link with a "
                            "kernel and a pass, such as \"kernel=3&pass=devectorize&step=12\"",
                            text));
  const ResolvedLink at = resolve(trace, link);
  return {at.pass, at.step};
}

HandText handText(const std::string& text) {
  HandText out;
  const size_t colon = text.find(':');
  auto trimmed = [](const std::string& part) {
    const size_t from = part.find_first_not_of(" \t"), to = part.find_last_not_of(" \t");
    return from == std::string::npos ? std::string() : part.substr(from, to + 1 - from);
  };
  out.place = trimmed(text.substr(0, colon));
  if (out.place.empty())
    throw Error(ErrorKind::Value,
                "--by-hand: write PLACE or PLACE:RULE,RULE, such as 826:mul-one,add-zero#2");
  if (colon == std::string::npos) return out;
  std::istringstream in(text.substr(colon + 1));
  for (std::string part; std::getline(in, part, ',');)
    if (part = trimmed(part); !part.empty()) out.choices.push_back(part);
  return out;
}

} // namespace uopscope
