// Recompiles a stored input: settings, graph and device come from the corpus, everything else from this
// build.
#include "replay/compare/recompile.h"

#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/rewrite/rule.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/runtime/kernel_report.h"
#include "replay/compare/replayed_rules.h"
#include "replay/compare/story_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>
#include <set>

namespace uopscope {

namespace {

/// Passes every call on to a capture, and asks a gate about each rewrite first.
class Gated : public CaptureObserver {
public:
  Gated(Sink sink, Observer* gate, RuleTally* tally)
      : CaptureObserver(std::move(sink), Detail::Stories, tally), gate_(gate) {}
  Control onRewrite(const RewriteEvent& event) override {
    if (gate_ && gate_->onRewrite(event) == Control::Skip) return Control::Skip;
    return CaptureObserver::onRewrite(event);
  }
  void onPassBegin(const PassBegin& begin) override {
    if (gate_) gate_->onPassBegin(begin);
    CaptureObserver::onPassBegin(begin);
  }
  void onPassEnd(const PassEnd& end) override {
    if (gate_) gate_->onPassEnd(end);
    CaptureObserver::onPassEnd(end);
  }

private:
  Observer* gate_;
};

/// The texts a compilation makes: All that a corpus keeps, or only the Deciding ones that tell two builds
/// apart. Deciding leaves out derived texts (C beside IR, origins of lines).
enum class Texts : uint8_t { All, Deciding };

void compileKernel(const Compilation& input, UOp root, bool assembly, Texts texts) {
  Device& device = Device::get(input.device);
  Observer& observer = *Observer::current();
  CompiledKernel made;
  if (texts == Texts::All) {
    std::string report;
    made = lowerAndRender(root, device, report);
  } else {
    made.lowered = lowerKernel(root, device.renderer().target());
    PoolScope scope(*made.lowered.pool);
    observer.onArtifact({"name", made.lowered.name});
    observer.onArtifact({"opts", optsJson(made.lowered)});
    observer.onArtifact({"launch", launchJson(made.lowered, device)});
    made.source = device.renderer().renderWithLines(made.lowered, nullptr);
    observer.onArtifact({"source", made.source});
  }
  if (assembly) {
    PoolScope scope(*made.lowered.pool);
    auto program = device.compile(made.lowered, made.source);
    if (std::string text = program ? program->assembly() : std::string(); !text.empty())
      observer.onArtifact({"asm", text});
    observer.onArtifact({"registers", registersJson(made.lowered, device, program.get())});
  }
  observer.poolRetired(*made.lowered.pool);
}

} // namespace

std::optional<Opt> parseOpt(const std::string& text) {
  auto after = [&](std::string_view key) {
    size_t at = text.find(key);
    return at == std::string::npos ? std::string() : text.substr(at + key.size());
  };
  std::string name = after("OptOps.");
  auto op = optOpFromName(name.substr(0, name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ")));
  if (!op) return std::nullopt;
  Opt opt{*op, -1, {}};
  if (std::string axis = after("axis="); !axis.empty() && axis[0] != 'N')
    opt.axis = static_cast<int>(std::strtol(axis.c_str(), nullptr, 10));
  std::string arg = after("arg=");
  for (size_t i = 0; i < arg.size();) {
    if (!isdigit(static_cast<unsigned char>(arg[i])) && arg[i] != '-') {
      ++i;
      continue;
    }
    size_t used = 0;
    try {
      opt.arg.push_back(std::stoll(arg.substr(i), &used));
    } catch (const std::exception&) {
      used = 1;
    }
    i += used;
  }
  return opt;
}

void requireRules(std::span<const std::string> names, const RuleCounts& alsoKnown) {
  constexpr size_t kMostNear = 8;
  std::set<std::string_view> all;
  for (const RuleDef* def : knownRules()) all.insert(def->name);
  for (const std::string& name : names) {
    if (all.contains(name) ||
        std::ranges::any_of(alsoKnown, [&](const auto& place) { return place.first.rule == name; }))
      continue;
    const std::string stem = name.substr(0, name.find('-'));
    std::vector<std::string_view> near;
    std::ranges::copy_if(all, std::back_inserter(near),
                         [&](std::string_view other) { return other.starts_with(stem); });
    // Those first that begin with most of its letters.
    std::ranges::stable_sort(near, std::greater<>(), [&](std::string_view other) {
      return std::ranges::mismatch(name, other).in1 - name.begin();
    });
    near.resize(std::min(near.size(), kMostNear));
    throw Error(ErrorKind::Key,
                fmt::format("there is no rule \"{}\"{}; uopscope stats TRACE lists those that applied", name,
                            near.empty() ? "" : fmt::format("; near it are {}", fmt::join(near, ", "))));
  }
}

Control WithoutRules::onRewrite(const RewriteEvent& event) {
  return names_.contains(event.rule->name()) ? Control::Skip : Control::Apply;
}

StoredSettings settingsOf(const Compilation& input) {
  StoredSettings values;
  auto j = nlohmann::json::parse(input.settings, nullptr, false);
  if (j.is_object())
    for (const auto& [name, value] : j.items())
      if (value.is_number_integer() && ContextVar::find(name))
        values.emplace_back(name, value.get<int64_t>());
  return values;
}

UOp inputGraph(const Compilation& input) {
  return inputGraph(input, settingsOf(input));
}

UOp inputGraph(const Compilation& input, const StoredSettings& settings, std::vector<UOp>* held) {
  UOp root = graphFromText(input.graph, held);
  const bool searched =
      std::ranges::any_of(settings, [](const auto& s) { return s.first == "BEAM" && s.second > 0; });
  if (!searched || root.arg().kind() != ArgKind::Kernel) return root;
  auto opts = nlohmann::json::parse(input.opts, nullptr, false);
  if (!opts.is_array()) return root;
  KernelInfo info = root.arg().as<KernelInfo>();
  if (info.hasOptsToApply) return root;
  info.hasOptsToApply = true;
  for (const auto& o : opts)
    if (auto opt = o.is_string() ? parseOpt(o.get<std::string>()) : std::nullopt)
      info.optsToApply.push_back(*opt);
  return root.withArg(Arg::of(info));
}

namespace {
/// The observed compilation of the input; status and message tell of a failure.
Compilation compileObserved(const Compilation& input, CaptureObserver& observer,
                            std::optional<Compilation>& made, const RecompileOptions& options, Texts texts) {
  std::string failure;
  {
    ObserverScope observed(&observer);
    const StoredSettings stored = options.settings ? *options.settings : settingsOf(input);
    ContextScope settings(stored);
    const ReplayedRules rules(input);
    Pool pool;
    PoolScope scope(pool);
    try {
      std::vector<UOp> held;
      UOp root = inputGraph(input, stored, &held);
      const std::vector<UOpRef> inPlaceOfTensors(held.begin(), held.end());
      ObservedScope compiling({input.kind, input.name, {input.file, input.line}, root});
      try {
        if (input.kind == ScopeKind::Kernel) {
          compileKernel(input, root, options.assembly, texts);
        } else {
          clearScheduleCache();
          createSchedule(root);
        }
      } catch (const std::bad_alloc&) {
        failure = "out of memory";
      } catch (const std::exception& e) {
        failure = e.what();
      }
    } catch (const std::exception& e) { // the graph itself cannot be made
      failure = e.what();
    }
    observer.poolRetired(pool);
    if (input.kind == ScopeKind::Schedule) clearScheduleCache();
  }
  Compilation out = made ? std::move(*made) : Compilation{};
  // The input stays as stored, even if this build would write it differently today.
  out.kind = input.kind, out.graph = input.graph, out.device = input.device, out.settings = input.settings;
  out.file = input.file, out.line = input.line;
  if (out.name.empty()) out.name = input.name;
  if (!failure.empty()) out.status = "failed", out.message = failure;
  return out;
}
} // namespace

Compilation recompile(const Compilation& input, const RecompileOptions& options) {
  std::optional<Compilation> made;
  Gated observer(
      [&](Compilation c) {
        made = std::move(c);
        return true;
      },
      options.gate, options.counts);
  return compileObserved(input, observer, made, options, Texts::All);
}

bool makesTheSame(const Compilation& input, const RecompileOptions& options, int64_t& compileNs) {
  std::optional<Compilation> made;
  CaptureObserver observer(
      [&](Compilation c) {
        made = std::move(c);
        return true;
      },
      options.counts ? CaptureObserver::Detail::Counts : CaptureObserver::Detail::Code, options.counts);
  Compilation now = compileObserved(input, observer, made, options, Texts::Deciding);
  compileNs = now.compileNs;
  const std::string& text = input.ir.empty() ? input.source : input.ir;
  return now.status == input.status && now.source == text && now.launch == input.launch &&
         now.opts == input.opts && now.name == input.name &&
         (!options.assembly || now.assembly == input.assembly) &&
         (!options.counts ||
          observer.takeApplied() == (input.applied ? *input.applied : appliedIn(input.story)));
}

} // namespace uopscope
