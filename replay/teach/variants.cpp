// A child answers with JSON; the parent trusts no field of it to exist.
#include "replay/teach/variants.h"

#include "engine/base/error.h"
#include "engine/codegen/kernel_passes.h"
#include "engine/rules/user_rules.h"
#include "engine/uop/uop.h"
#include "replay/compare/divergence.h"
#include "replay/compare/kernel_run.h"
#include "replay/compare/recompile.h"
#include "replay/compare/story_view.h"
#include "replay/record/corpus.h"
#include "replay/record/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <deque>
#include <set>
#include <sstream>

namespace uopscope {

using nlohmann::json;

namespace {

std::vector<std::string> parts(const std::string& text, char at) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) {
    const size_t from = part.find_first_not_of(" \t"), to = part.find_last_not_of(" \t");
    if (from != std::string::npos) out.push_back(part.substr(from, to + 1 - from));
  }
  return out;
}

size_t stepsOf(const Compilation& c) {
  const Story story(c.story);
  return static_cast<size_t>(
      std::ranges::count_if(story.events(), [](const StoryEvent& e) { return e.kind == StoryEvent::Step; }));
}

/// The input with these Opts in place of the chosen ones.
Compilation withOpts(const Compilation& input, const std::vector<Opt>& opts) {
  Pool pool;
  PoolScope scope(pool);
  UOp root = graphFromText(input.graph);
  KernelInfo info = root.arg().kind() == ArgKind::Kernel ? root.arg().as<KernelInfo>() : KernelInfo{};
  info.hasOptsToApply = true;
  info.optsToApply = opts;
  Compilation out = input;
  out.graph = graphToText(root.withArg(Arg::of(info)));
  return out;
}

/// "UPCAST 0 4; UNROLL 0 8"
std::string optsText(const Compilation& c) {
  std::string out;
  const json list = json::parse(c.opts, nullptr, false);
  if (!list.is_array()) return out;
  for (const json& text : list)
    if (const auto opt = text.is_string() ? parseOpt(text.get<std::string>()) : std::nullopt)
      out += fmt::format("{}{}{}{}{}", out.empty() ? "" : "; ", optOpName(opt->op),
                         opt->axis < 0 ? "" : fmt::format(" {}", opt->axis), opt->arg.empty() ? "" : " ",
                         fmt::join(opt->arg, " "));
  return out;
}

std::string optsOrNone(const Compilation& c) {
  const std::string text = optsText(c);
  return text.empty() ? "none" : text;
}

/// What the compiler says about registers; of one that says nothing, such as clang, what its assembly shows.
json registerFacts(const Compilation& c) {
  const json all = json::parse(c.registers, nullptr, false);
  const json used = all.is_object() ? all.value("used", json()) : json();
  if (!used.is_object())
    return {{"registers", vectorRegisters(c.assembly)}, {"spills", vectorSpills(c.assembly)}};
  return {{"registers", used.value("registers", size_t{0})},
          {"spills", used.value("spills", size_t{0}) + used.value("reloads", size_t{0})}};
}

json facts(const Compilation& c) {
  json out = {{"problem", c.status == "ok" ? "" : c.message},
              {"source", c.source},
              {"rewrites", stepsOf(c)},
              {"lines", std::count(c.source.begin(), c.source.end(), '\n')},
              {"instructions", instructionCount(c.assembly)},
              {"opts", optsText(c)}};
  out.update(registerFacts(c));
  return out;
}

VariantResult resultOf(const std::string& name, const json& j) {
  VariantResult r;
  r.name = name;
  r.problem = j.value("problem", ""), r.unmeasured = j.value("unmeasured", ""),
  r.source = j.value("source", "");
  r.difference = j.value("difference", ""), r.pass = j.value("pass", "");
  r.rewrites = j.value("rewrites", size_t{0}), r.lines = j.value("lines", size_t{0});
  r.instructions = j.value("instructions", size_t{0}), r.registers = j.value("registers", size_t{0});
  r.spills = j.value("spills", size_t{0}), r.opts = j.value("opts", "");
  r.seconds = j.value("seconds", 0.0), r.ratio = j.value("ratio", 1.0);
  r.low = j.value("low", 1.0), r.high = j.value("high", 1.0);
  r.wrong = j.value("wrong", false), r.sameCode = j.value("same", false);
  return r;
}

/// Leaves out one rewrite of a lowering, by its number. A node that was left alone once stays so: passes come
/// back to it.
class WithoutRewrite : public Observer {
public:
  explicit WithoutRewrite(const Variant& v) : number_(v.rewrite), rule_(v.rule) {}
  Control onRewrite(const RewriteEvent& event) override {
    if (left_ && left_->first == event.rule->name() && left_->second == event.before) return Control::Skip;
    if (++made_ != number_) return Control::Apply;
    if (event.rule->name() != rule_)
      throw Error(ErrorKind::Value,
                  fmt::format("this build makes other rewrites: number {} is by '{}', not '{}'", number_,
                              event.rule->name(), rule_));
    left_.emplace(event.rule->name(), event.before);
    return Control::Skip;
  }

private:
  size_t number_, made_ = 0;
  std::string rule_;
  std::optional<std::pair<std::string, UOp>> left_;
};

/// A gate counts the rewrites of one lowering, so each lowering gets its own.
std::unique_ptr<Observer> gateOf(const Variant& v) {
  if (v.rewrite) return std::make_unique<WithoutRewrite>(v);
  if (!v.without.empty()) return std::make_unique<WithoutRules>(v.without);
  return nullptr;
}

/// While they live, the added rules of the variant take part.
std::deque<UserRules> rulesOf(const Variant& v) {
  std::deque<UserRules> added;
  for (const auto& rules : v.added) added.emplace_back(v.after, kernelPassNames(), *rules);
  return added;
}

void writeCorpus(const std::string& path, const Compilation& kernel, Compilation made) {
  made.graph = kernel.graph,
  made.settings = kernel.settings; // the same input, to be found as its counterpart
  std::remove(path.c_str());
  Corpus corpus = Corpus::create(path);
  corpus.add(made);
  corpus.finish();
}

/// Runs in the child: compiles, compares, runs and times both compilations.
std::string compareWith(const Compilation& kernel, const Variant& variant, int repeats,
                        const std::string& keep, size_t number) {
  const bool opts = variant.opts.has_value();
  const Compilation input = opts ? withOpts(kernel, *variant.opts) : kernel;
  const auto gate = gateOf(variant), timed = gateOf(variant);
  const Compilation before = recompile(kernel, {.assembly = true});
  auto rules = rulesOf(variant);
  const Compilation after = recompile(input, {.assembly = true, .gate = gate.get()});
  rules.clear();
  if (!keep.empty()) {
    writeCorpus(keep + "-0.uopcorpus", kernel, before);
    writeCorpus(fmt::format("{}-{}.uopcorpus", keep, number), kernel, after);
  }
  json out = facts(after);
  const Divergence d = firstDivergence(Story(before.story), Story(after.story));
  if (opts)
    out["difference"] = after.opts == before.opts
                            ? ""
                            : fmt::format("Opts {} in place of {}", optsOrNone(after), optsOrNone(before));
  else if (d.found() && !variant.told.empty())
    out["difference"] = variant.told, out["pass"] = variant.pass;
  else if (d.found())
    out["difference"] = d.sentence(), out["pass"] = d.pass;
  out["same"] = after.status == "ok" && after.source == before.source && after.ir == before.ir;
  if (after.status != "ok" || before.status != "ok" || repeats == 0)
    return out.dump(-1, ' ', false, json::error_handler_t::replace);
  try {
    KernelRunner base(kernel, {.repeats = repeats});
    rules = rulesOf(variant);
    KernelRunner other(input, {.gate = timed.get(), .repeats = repeats});
    rules.clear();
    const KernelOutcome a = base.run(), b = other.run();
    KernelOutcome again = base.run(),
                  more = other.run(); // in turn, so that a slow moment of the machine affects both
    std::vector<double> x = a.seconds, y = b.seconds;
    x.insert(x.end(), again.seconds.begin(), again.seconds.end());
    y.insert(y.end(), more.seconds.begin(), more.seconds.end());
    const TimeComparison t = compareTimes(x, y);
    out["seconds"] = t.after, out["ratio"] = t.ratio, out["low"] = t.low, out["high"] = t.high;
    out["wrong"] = isWrong(a, b);
  } catch (const std::exception& e) {
    out["unmeasured"] = e.what();
  }
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string baseFacts(const Compilation& kernel, int repeats) {
  const Compilation now = recompile(kernel, {.assembly = true});
  json out = facts(now);
  try {
    if (repeats && now.status == "ok") {
      KernelRunner runner(kernel, {.repeats = repeats});
      std::vector<double> s = runner.run().seconds;
      std::sort(s.begin(), s.end());
      if (!s.empty()) out["seconds"] = s[s.size() / 2];
    }
  } catch (const std::exception& e) {
    out["unmeasured"] = e.what();
  }
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

VariantResult inChild(const std::string& name, const std::function<std::string()>& work, int timeout) {
  try {
    return resultOf(name, json::parse(isolated(work, timeout)));
  } catch (const std::exception& e) {
    VariantResult r;
    r.name = name, r.problem = e.what();
    return r;
  }
}

} // namespace

Variant variantWithout(const std::string& rules) {
  Variant v{.name = "without " + rules, .without = parts(rules, ',')};
  if (v.without.empty())
    throw Error(ErrorKind::Value, "--without: give the name of a rule, or several with commas");
  requireRules(v.without);
  return v;
}

namespace {

/// The Opts of a list as Python prints it, which `show --what opts`, DEBUG=4 and a kernel's KernelInfo have:
/// [Opt(op=OptOps.UPCAST, axis=0, arg=4), ...]. Empty if it is no such list.
std::vector<Opt> printedOpts(std::string_view text) {
  constexpr std::string_view kBegin = "Opt(";
  std::vector<Opt> found;
  while (true) {
    const size_t begin = text.find(kBegin);
    const std::string_view between = text.substr(0, begin);
    if (between.find_first_not_of("[](),; \t\n\"'") != std::string_view::npos) return {};
    if (begin == std::string_view::npos) return found;
    size_t end = begin + kBegin.size();
    for (int open = 1; open > 0 && end < text.size(); ++end) open += (text[end] == '(') - (text[end] == ')');
    const auto opt = parseOpt(std::string(text.substr(begin, end - begin)));
    if (!opt) return {};
    found.push_back(*opt);
    text.remove_prefix(end);
  }
}

} // namespace

Variant variantOpts(const std::string& text) {
  Variant v{.name = "Opts " + text, .opts = std::vector<Opt>{}};
  if (text == "none") return v;
  if (std::vector<Opt> printed = printedOpts(text); !printed.empty()) {
    v.opts = std::move(printed);
    return v;
  }
  for (const std::string& one : parts(text, ';')) {
    std::istringstream in(one);
    std::string name;
    Opt opt;
    in >> name;
    const auto op = optOpFromName(name);
    bool whole = static_cast<bool>(op);
    if (op) opt.op = *op;
    if (whole && (in >> opt.axis)) // NOLOCALS has neither axis nor amount
      for (int64_t n; in >> n;) opt.arg.push_back(n);
    whole = whole && in.eof();
    if (!whole)
      throw Error(
          ErrorKind::Value,
          fmt::format("--opts \"{}\": \"{}\" is no Opt; write \"UPCAST 0 4; UNROLL 0 8\": name, axis, amount "
                      "(UPCAST, UNROLL, LOCAL, THREAD, GROUP, GROUPTOP, SWAP, PADTO, NOLOCALS), a list "
                      "as show --what opts prints it, or none",
                      text, one));
    v.opts->push_back(std::move(opt));
  }
  if (v.opts->empty()) throw Error(ErrorKind::Value, "--opts: give Opts such as \"UPCAST 0 4\", or none");
  return v;
}

size_t instructionCount(std::string_view assembly) {
  size_t n = 0;
  for (size_t at = 0; at < assembly.size();) {
    const size_t end = std::min(assembly.find('\n', at), assembly.size());
    std::string_view line = assembly.substr(at, end - at);
    const size_t from = line.find_first_not_of(" \t");
    at = end + 1;
    if (from == std::string_view::npos) continue;
    line.remove_prefix(from);
    n += line[0] != '.' && line[0] != '#' && line[0] != ';' && !line.ends_with(':');
  }
  return n;
}

namespace {

/// Calls `seen(number)` for each vector register named in the line: xmm3, ymm3, zmm3; v3, z3, q3.
template <typename Seen>
void eachVectorRegister(std::string_view line, Seen seen) {
  for (size_t at = 0; at < line.size();) {
    if (!std::isalnum(static_cast<unsigned char>(line[at]))) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < line.size() && std::isalnum(static_cast<unsigned char>(line[end]))) ++end;
    std::string_view word = line.substr(at, end - at);
    at = end;
    if (word.size() > 3 && word.substr(1, 2) == "mm" && std::string_view("xyz").find(word[0]) != word.npos)
      word.remove_prefix(3);
    else if (word.size() > 1 && std::string_view("vzq").find(word[0]) != word.npos)
      word.remove_prefix(1);
    else
      continue;
    int number = -1;
    const auto [last, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && last == word.data() + word.size() && number < 32) seen(number);
  }
}

template <typename Line>
void eachLine(std::string_view text, Line line) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    line(text.substr(at, end - at));
    at = end + 1;
  }
}

} // namespace

size_t vectorRegisters(std::string_view assembly) {
  std::set<int> seen;
  eachLine(assembly,
           [&](std::string_view line) { eachVectorRegister(line, [&](int n) { seen.insert(n); }); });
  return seen.size();
}

size_t vectorSpills(std::string_view assembly) {
  size_t spills = 0;
  eachLine(assembly, [&](std::string_view line) {
    bool vector = false;
    eachVectorRegister(line, [&](int) { vector = true; });
    spills += vector && (line.find("[rsp") != line.npos || line.find("(%rsp") != line.npos ||
                         line.find("[sp") != line.npos);
  });
  return spills;
}

WhatIf whatIf(const Compilation& kernel, const std::vector<Variant>& variants, const WhatIfOptions& o) {
  if (kernel.kind != ScopeKind::Kernel)
    throw Error(ErrorKind::Value, fmt::format("{} is a schedule; what-if compiles kernels", kernel.name));
  WhatIf w{kernel.name, kernel.file.empty() ? "" : fmt::format("{}:{}", kernel.file, kernel.line), {}, {}};
  w.base = inChild("as it is", [&] { return baseFacts(kernel, o.repeats); }, o.timeoutSeconds);
  for (const Variant& v : variants) {
    const size_t number = w.variants.size() + 1;
    w.variants.push_back(
        inChild(v.name, [&] { return compareWith(kernel, v, o.repeats, o.keep, number); }, o.timeoutSeconds));
  }
  return w;
}

} // namespace uopscope
