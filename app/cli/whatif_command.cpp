// uopscope whatif: kernels compiled again without a rule or with other Opts. A script runs in a process of its own.
#include "app/cli/output.h"
#include "app/cli/replay_command.h"
#include "app/cli/sandbox.h"
#include "app/cli/teach_command.h"
#include "replay/compare/stored_compilations.h"
#include "replay/teach/by_hand.h"
#include "replay/teach/kept_variants.h"
#include "viz/pictures/rule_picture.h"

#include <fmt/format.h>

#include <filesystem>
#include <sstream>

namespace uopscope::cli {

namespace {

namespace fs = std::filesystem;

void mustExist(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored))
    throw Error(ErrorKind::File,
                fmt::format("{}: no such file; give a script, a .uoptrace or a .uopcorpus", path));
}

bool isStored(const std::string& path) {
  return path.ends_with(".uoptrace") || path.ends_with(".uopcorpus") || isDatabaseFile(path);
}

/// Runs the script and captures its compilations in `corpus`.
void capture(const WhatIfArguments& o, const std::string& corpus) {
  TemporaryFile log(".log");
  std::vector<std::string> command = {selfPath(), "run", o.input};
  command.insert(command.end(), o.arguments.begin(), o.arguments.end());
  const int code =
      runProgram(command, {}, log.path(), {{"CAPTURE_PROCESS_REPLAY", "1"}, {"UOPSCOPE_CORPUS", corpus}});
  if (code == kFine) return;
  fmt::print(stderr, "uopscope: {} ended with exit code {} ({}); using the kernels it compiled before\n",
             o.input, code, lastLine(log.path()));
}

void mustBeTrace(const WhatIfArguments& o) {
  if (!isTraceFile(o.input))
    throw Error(ErrorKind::Value,
                fmt::format("{}: not a trace, and --without-step, --alternative, --by-hand and kept variants "
                            "belong to one: give a .uoptrace file, which uopscope record makes of a script",
                            o.input));
}

/// What matches in the graphs that --by-hand names.
int listMatches(const WhatIfArguments& o) {
  mustBeTrace(o);
  Trace trace(o.input);
  Json all = Json::array();
  for (const std::string& text : o.byHand) {
    const HandText parts = handText(text);
    HandGraph hand(trace, handPlace(trace, parts.place, o.kernel));
    for (const std::string& choice : parts.choices) hand.choose(choice);
    if (o.json)
      all.push_back(handMatchesJson(
          hand, {[](UOp before, UOp after) { return rewriteGraph(before, after); }, wholeRewriteGraph}));
    else
      fmt::print("{}\n", handMatchesText(hand));
  }
  if (o.json) printJson(Json{{"by_hand", all}});
  return kFine;
}

/// The variants that name steps of a trace; all of one kernel, which becomes `kernel`.
std::vector<Variant> variantsOfSteps(const WhatIfArguments& o, std::string& kernel) {
  std::vector<Variant> variants;
  if (o.withoutSteps.empty() && o.alternatives.empty() && o.byHand.empty()) return variants;
  mustBeTrace(o);
  Trace trace(o.input);
  auto belongs = [&](const std::string& what, ScopeId scope) {
    const std::string number = std::to_string(scope);
    if (kernel.empty()) kernel = number;
    if (trace.findScope(kernel) != scope)
      throw Error(ErrorKind::Value, fmt::format("{} belongs to kernel {}, not to {}", what, number, kernel));
  };
  auto of = [&](StepId step) {
    belongs(fmt::format("step {}", step), kernelOfStep(trace, step));
    return step;
  };
  for (const int64_t step : o.withoutSteps) variants.push_back(variantWithoutStep(trace, of(step)));
  for (const std::string& text : o.alternatives) {
    int64_t step = 0, number = 0;
    char colon = 0;
    std::istringstream in(text);
    if (!(in >> step >> colon >> number) || colon != ':' || !in.eof() || number < 1)
      throw Error(
          ErrorKind::Value,
          fmt::format("--alternative \"{}\": write STEP:N, such as 826:1 for the first alternative", text));
    variants.push_back(variantAlternative(trace, of(step), static_cast<size_t>(number)));
  }
  for (const std::string& text : o.byHand) {
    const HandPlace place = handPlace(trace, handText(text).place, kernel);
    belongs(fmt::format("\"{}\"", text), trace.pass(place.pass).scope);
    variants.push_back(variantByHand(trace, text, kernel));
  }
  return variants;
}

/// All variants that the options name.
std::vector<Variant> variantsOf(const WhatIfArguments& o, std::string& kernel);

/// A variant that was kept beside the trace; its kernel has to be `kernel`, or becomes it.
Variant keptVariant(const WhatIfArguments& o, const std::string& name, std::string& kernel) {
  const KeptVariant kept = KeptVariants(o.input).find(name);
  WhatIfArguments one;
  one.input = o.input;
  const std::string &option = kept.arguments[0], &value = kept.arguments[1];
  if (option == "--without-step") {
    int64_t step = 0;
    std::istringstream(value) >> step;
    one.withoutSteps = {step};
  } else {
    (option == "--without"   ? one.without
     : option == "--opts"    ? one.opts
     : option == "--by-hand" ? one.byHand
                             : one.alternatives) = {value};
  }
  const std::string number = std::to_string(kept.kernel);
  if (kernel.empty()) kernel = number;
  if (Trace(o.input).findScope(kernel) != kept.kernel)
    throw Error(ErrorKind::Value,
                fmt::format("the variant \"{}\" is of kernel {}, not of {}", name, number, kernel));
  Variant v = variantsOf(one, kernel).at(0);
  v.name = name;
  return v;
}

std::vector<Variant> variantsOf(const WhatIfArguments& o, std::string& kernel) {
  std::vector<Variant> variants;
  for (const std::string& rules : o.without) variants.push_back(variantWithout(rules));
  for (const std::string& opts : o.opts) variants.push_back(variantOpts(opts));
  mustExist(o.input);
  for (Variant& v : variantsOfSteps(o, kernel)) variants.push_back(std::move(v));
  if (!o.kept.empty()) mustBeTrace(o);
  for (const std::string& name : o.kept) variants.push_back(keptVariant(o, name, kernel));
  return variants;
}

int listKept(const WhatIfArguments& o) {
  mustExist(o.input);
  mustBeTrace(o);
  const Trace trace(o.input); // its faults are told first
  const KeptVariants kept(o.input);
  Json all = Json::array();
  for (const KeptVariant& v : kept.all()) {
    if (o.json)
      all.push_back(Json{{"name", v.name}, {"kernel", v.kernel}, {"arguments", v.arguments}});
    else
      fmt::print("{}  kernel {}  {} \"{}\"\n", v.name, v.kernel, v.arguments[0], v.arguments[1]);
  }
  if (o.json) printJson(Json{{"variants", all}});
  return kFine;
}

/// Keeps the one variant of the options under --name.
void keepVariant(const WhatIfArguments& o, size_t variants, const std::string& kernel) {
  mustBeTrace(o);
  if (variants != 1 || !o.kept.empty())
    throw Error(
        ErrorKind::Value,
        "--name keeps one variant: give --without, --opts, --without-step, --alternative or --by-hand "
        "once");
  if (kernel.empty())
    throw Error(ErrorKind::Value, "--name keeps a variant of one kernel: name it with --kernel");
  KeptVariant kept{o.name, Trace(o.input).findScope(kernel), {}};
  for (const auto& [option, values] : {std::pair{"--without", &o.without},
                                       {"--opts", &o.opts},
                                       {"--alternative", &o.alternatives},
                                       {"--by-hand", &o.byHand}})
    if (!values->empty()) kept.arguments = {option, values->front()};
  if (!o.withoutSteps.empty()) kept.arguments = {"--without-step", std::to_string(o.withoutSteps.front())};
  KeptVariants(o.input).keep(std::move(kept));
}

/// The kernels of the input: the one that is asked for, or all. For a trace, numbers are those that ls prints.
std::vector<Compilation> kernelsOf(const WhatIfArguments& o, const std::string& kernel) {
  if (!kernel.empty() && isTraceFile(o.input)) {
    Trace trace(o.input);
    return {storedCompilation(trace, trace.findScope(kernel))};
  }
  TemporaryFile made(".uopcorpus");
  if (!isStored(o.input)) capture(o, made.path());
  if (std::error_code ignored; !isStored(o.input) && !fs::exists(made.path(), ignored))
    throw Error(ErrorKind::Value, fmt::format("{} compiled nothing: it must realize a tensor", o.input));
  const StoredCompilations stored = openStored(isStored(o.input) ? o.input : made.path());
  const Corpus corpus = Corpus::open(stored.path());
  if (!kernel.empty()) return {corpus.load(findEntry(corpus, kernel))};
  std::vector<Compilation> kernels;
  for (const CorpusEntry& e : corpus.entries())
    if (e.kind == ScopeKind::Kernel) kernels.push_back(corpus.load(e));
  return kernels;
}

bool isBad(const VariantResult& r) {
  return !r.problem.empty() || r.wrong;
}

} // namespace

int compareVariants(const WhatIfArguments& o) {
  if (o.listKept) return listKept(o);
  if (!o.forget.empty()) {
    mustExist(o.input);
    mustBeTrace(o);
    KeptVariants(o.input).forget(o.forget);
    return kFine;
  }
  if (o.matches && o.byHand.empty())
    throw Error(ErrorKind::Value, "--matches lists what matches at a place: give it with --by-hand");
  const bool others = !o.without.empty() || !o.opts.empty() || !o.withoutSteps.empty() ||
                      !o.alternatives.empty() || !o.kept.empty();
  const bool onlyPlaces =
      !others && !o.byHand.empty() &&
      std::ranges::all_of(o.byHand, [](const std::string& t) { return handText(t).choices.empty(); });
  mustExist(o.input);
  if (o.matches || onlyPlaces) return listMatches(o);
  std::string asked = o.kernel;
  const std::vector<Variant> variants = variantsOf(o, asked);
  if (variants.empty())
    throw Error(
        ErrorKind::Value,
        "whatif needs a variant: give --without RULE, --opts \"UPCAST 0 4\", "
        "--without-step STEP, --alternative STEP:N, --by-hand STEP:RULE or --variant NAME, several times if "
        "wanted");
  if (!o.name.empty()) keepVariant(o, variants.size(), asked);
  if (isStored(o.input) && !o.noTimes && !o.trust)
    continueInSandbox("whatif", {o.input}, asked.empty() ? "its kernels" : asked, "");
  const std::vector<Compilation> kernels = kernelsOf(o, asked);
  if (kernels.empty()) throw Error(ErrorKind::Value, fmt::format("{} has no kernel", o.input));
  if (!o.keep.empty() && kernels.size() != 1)
    throw Error(ErrorKind::Value, "--keep writes the corpora of one kernel: name it with --kernel");
  const WhatIfOptions options{o.noTimes ? 0 : o.repeats, o.timeout, o.keep};
  Json all = Json::array();
  size_t same = 0;
  bool bad = false;
  for (const Compilation& kernel : kernels) {
    // With many kernels, those whose code does not change are not timed.
    if (asked.empty()) {
      const WhatIf quick = whatIf(kernel, variants, {0, o.timeout, {}});
      if (std::ranges::all_of(quick.variants, [](const VariantResult& v) { return v.sameCode; })) {
        ++same;
        continue;
      }
    }
    const WhatIf w = whatIf(kernel, variants, options);
    for (const VariantResult& v : w.variants) bad |= isBad(v);
    if (o.json) {
      all.push_back(whatIfJson(w));
    } else {
      fmt::print("{}\n", whatIfText(w, o.diffs ? 0 : 40));
      std::fflush(stdout);
    }
  }
  if (o.json)
    printJson(Json{{"kernels", all}, {"unchanged", same}});
  else if (asked.empty())
    fmt::print("{} of {} kernels stay as they are\n", same, kernels.size());
  return bad ? kFailed : kFine;
}

} // namespace uopscope::cli
