// Profiles of tinygrad become rows of the timeline: what the compiler did, launches and copies by device, and for kernels with
// a thread trace their wavefronts, their instructions and their machine code with what each line took.
//
// A profile is a Python pickle. A program in Python without names of its own reads it, so a made file runs nothing.
#include "app/cli/cli.h"
#include "app/cli/foreign_script.h"
#include "app/cli/import_rows.h"
#include "app/cli/replay_command.h"
#include "engine/runtime/amd_compiler.h"
#include "replay/record/trace_rows.h"
#include "replay/schema/quantity_text.h"
#include "replay/sqtt/instruction_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

namespace uopscope::cli {

namespace {

/// Instructions of a profile that become rows of the timeline; the listings count all.
constexpr int64_t kMostInstructions = 200'000;

std::string contentOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The events and bytes of a profile.
struct Profile {
  Json events;
  std::string bytes;

  explicit Profile(const std::string& file) {
    TemporaryFile events_(".json"), blobs(".bin"), log(".log");
    const int code = runForeignScript("tinygrad_profile.py",
                                      {file, "-o", events_.path(), "--blobs", blobs.path()}, log.path());
    if (code != 0) throw Error(ErrorKind::Value, lastLine(log.path()));
    events = Json::parse(contentOf(events_.path()));
    bytes = contentOf(blobs.path());
  }

  /// Bytes that an event refers to; empty where it has none.
  std::string_view at(const Json& place) const {
    if (!place.is_object()) return {};
    return std::string_view(bytes).substr(place["at"].get<size_t>(), place["size"].get<size_t>());
  }
};

class ProfileImport {
public:
  ProfileImport(const Profile& profile, const std::string& path) : profile_(profile), rows_(path) {
    for (const Json& e : profile.events)
      if (e["event"] == "device" && e["compute"].is_number() && e["copy"].is_number())
        shift_[e["device"]] = {e["compute"].get<int64_t>(), e["copy"].get<int64_t>()};
    for (const Json& e : profile.events)
      if (e["event"] == "device") architectures_[e["device"]] = e["architecture"];
    for (const Json& e : profile.events)
      if (e["event"] == "span") zero_ = std::min(zero_, beginOf(e));
    if (zero_ == INT64_MAX) throw Error(ErrorKind::Value, "no profile of tinygrad: it holds no span");
  }

  std::string write() {
    for (const Json& e : profile_.events) {
      const std::string kind = e["event"];
      if (kind == "span") span(e);
      if (kind == "program") programs_[{e["device"], e["name"]}] = profile_.at(e["code"]);
      if (kind == "sqtt") runs_[{e["device"], e["kernel"], e["run"]}].push_back(&e);
    }
    for (const auto& [key, events] : runs_) run({std::get<0>(key), std::get<1>(key)}, events);
    rows_.finish({{"foreign", "a profile of tinygrad: no graphs, no rewrites"}});
    std::string made = countedText(launches_, "row") + " of the timeline";
    if (waves_)
      made += fmt::format(", {} of {}", countedText(waves_, "wavefront"), countedText(scopes_, "kernel"));
    if (traced_)
      made += fmt::format(", {} of {} of them ({} follow their program)",
                          countedText(instructions_, "instruction"), traced_,
                          matched_ == traced_ ? "all" : std::to_string(matched_));
    if (instructions_ > kMostInstructions)
      made += fmt::format("; {} are in the listings alone",
                          countedText(instructions_ - kMostInstructions, "instruction"));
    for (const std::string& w : warnings_) made += "; " + w;
    return made;
  }

private:
  using Named = std::pair<std::string, std::string>; ///< a device, and a kernel of it
  struct Launch {
    int64_t device = 0, begin = 0, took = 0; ///< begin by the device's own clock, and in the trace
  };

  /// The difference of the device's clock to the host's.
  int64_t shiftOf(const std::string& device, bool copy) const {
    const auto it = shift_.find(device);
    return it == shift_.end() ? 0 : copy ? it->second.second : it->second.first;
  }
  int64_t beginOf(const Json& span) const {
    return span["begin"].get<int64_t>() + shiftOf(span["device"], span["copy"]);
  }

  void launch(std::string_view kernel, const std::string& device, int64_t begin, int64_t took,
              int64_t scope) {
    Json row{{"id", ++launches_},
             {"kernel", rows_.string(kernel)},
             {"device", rows_.string(device)},
             {"flops", 0},
             {"bytes", 0},
             {"begin_ns", begin},
             {"took_ns", std::max<int64_t>(took, 0)}};
    if (scope) row["scope"] = row["compiled"] = scope;
    rows_.insert("launch", row);
  }

  void span(const Json& e) {
    const int64_t begin = beginOf(e) - zero_;
    const int64_t took = e["end"].is_number() ? e["end"].get<int64_t>() - e["begin"].get<int64_t>() : 0;
    const std::string name = e["name"], device = e["device"];
    if (!e["copy"].get<bool>()) spans_[{device, name}].push_back({e["begin"].get<int64_t>(), begin, took});
    launch(name, device, begin, took, 0);
  }

  /// The waves of a kernel's launch, its instructions and its listing.
  void run(const Named& named, const std::vector<const Json*>& events) {
    const auto& [device, kernel] = named;
    std::vector<std::pair<int64_t, sqtt::ShaderTrace>> engines;
    for (const Json* e : events) {
      const std::string_view bytes = profile_.at((*e)["trace"]);
      const auto engine = (*e)["engine"].get<int64_t>();
      try {
        sqtt::ShaderTrace trace =
            sqtt::readShaderTrace({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
        if (trace.waves.empty()) continue; // they ran elsewhere
        engines.emplace_back(engine, std::move(trace));
      } catch (const Error& error) {
        warnings_.push_back(fmt::format("{}, shader engine {}: {}", kernel, engine, error.what()));
      }
    }
    if (engines.empty()) return warnings_.push_back(fmt::format("{}: no wavefront was traced", kernel));
    dropUntimed(kernel, engines);
    const size_t number = timesRun_[named]++;
    const bool isTimed = engines[0].second.clock.nsOf(0).has_value();
    const std::optional<Launch> at = isTimed ? launchOf(named, engines) : launchNumber(named, number);
    if (!at) {
      warnings_.push_back(fmt::format("{}: no launch of it lies at the time of its thread trace", kernel));
      return;
    }
    std::optional<sqtt::Program> program;
    std::string architecture;
    if (auto code = programs_.find(named); code != programs_.end() && !code->second.empty()) try {
        program.emplace(amd::disassembly(code->second, &architecture, architectures_[device]),
                        engines[0].second.tellsImmediates);
      } catch (const Error& e) {
        warnings_.push_back(fmt::format("{}: {}", kernel, e.what()));
      }
    const int64_t scope = ++scopes_;
    rows_.insert("scope", Json{{"id", scope},
                               {"kind", "kernel"},
                               {"name", rows_.string(kernel)},
                               {"line", 0},
                               {"begin_ns", at->begin},
                               {"end_ns", at->begin + at->took}});
    int64_t cycles = 0; // of the engine that ran longest
    for (const auto& [engine, trace] : engines)
      cycles = std::max(cycles, lastEnd(trace) - trace.waves.front().begin);
    if (!isTimed)
      warnings_.push_back(
          fmt::format("{}: its thread trace has no clock, so its {} cycles are stretched over the launch",
                      kernel, cycles));
    std::vector<sqtt::LineCost> costs(program ? program->lines().size() : 0);
    int64_t counted = 0;
    for (const auto& [engine, trace] : engines)
      for (const sqtt::Wave& wave : trace.waves)
        counted += writeWave(
            Placed{trace, *at, kernel, fmt::format("{} SE {}", device, engine), scope, isTimed ? 0 : cycles},
            wave, program ? &*program : nullptr, costs);
    if (program)
      rows_.text(++texts_, scope, rows_.string("asm"),
                 fmt::format("// {}\n{}", architecture, program->listing(costs, counted)), {});
  }

  static int64_t lastEnd(const sqtt::ShaderTrace& trace) {
    return std::ranges::max(trace.waves, {}, &sqtt::Wave::end).end;
  }
  /// Where some engines tell the time, the others are left out.
  void dropUntimed(const std::string& kernel, std::vector<std::pair<int64_t, sqtt::ShaderTrace>>& engines) {
    auto isTimed = [](const auto& e) { return e.second.clock.nsOf(0).has_value(); };
    if (std::ranges::none_of(engines, isTimed)) return;
    for (const auto& e : engines)
      if (!isTimed(e))
        warnings_.push_back(
            fmt::format("{}, shader engine {}: the thread trace does not tell the time", kernel, e.first));
    std::erase_if(engines, [&](const auto& e) { return !isTimed(e); });
  }
  /// The launch of the kernel with this number, in order; the last one where the driver timed fewer.
  std::optional<Launch> launchNumber(const Named& named, size_t number) {
    const std::vector<Launch>& all = spans_[named];
    if (all.empty()) return {};
    return all[std::min(number, all.size() - 1)];
  }

  /// How long after the begin of a launch a cycle was. The clock of 36 bits begins again, so the answer lies within half of
  /// its range.
  static double sinceBegin(const Launch& launch, const sqtt::ShaderTrace& trace, int64_t cycle) {
    constexpr double kRange = static_cast<double>(int64_t{1} << sqtt::Clock::kBits) * sqtt::Clock::kNsPerTick;
    const double since = *trace.clock.nsOf(cycle) - std::fmod(static_cast<double>(launch.device), kRange);
    return since - kRange * std::round(since / kRange);
  }

  /// The launch of the kernel whose time holds the first wavefront of the trace, by the GPU's clock.
  std::optional<Launch> launchOf(const Named& named,
                                 const std::vector<std::pair<int64_t, sqtt::ShaderTrace>>& engines) {
    for (const auto& [engine, trace] : engines)
      for (const Launch& launch : spans_[named])
        if (const double since = sinceBegin(launch, trace, trace.waves.front().begin);
            since >= 0 && since <= static_cast<double>(launch.took))
          return launch;
    return {};
  }

  struct Placed {
    const sqtt::ShaderTrace& trace;
    const Launch& at;
    const std::string& kernel;
    std::string engine;
    int64_t scope;
    int64_t stretched = 0; ///< cycles that are stretched over the launch; 0: the trace tells the time
    /// Where a cycle lies in the trace of uopscope.
    int64_t nsOf(int64_t cycle) const {
      if (!stretched) return at.begin + std::llround(sinceBegin(at, trace, cycle));
      const auto since = static_cast<double>(cycle - trace.waves.front().begin);
      return at.begin + std::llround(since * static_cast<double>(at.took) / static_cast<double>(stretched));
    }
  };

  /// Returns 1 for a wave that counts in the costs.
  int64_t writeWave(const Placed& placed, const sqtt::Wave& wave, const sqtt::Program* program,
                    std::vector<sqtt::LineCost>& costs) {
    ++waves_;
    // A traced wavefront has a row of its own, with its instructions below it.
    std::string place = fmt::format("{}, WGP {}, SIMD {}", placed.engine, wave.processor, wave.simd);
    if (!wave.issues.empty()) place += fmt::format(", slot {}", wave.slot);
    const int64_t begin = placed.nsOf(wave.begin);
    launch(placed.kernel, place, begin, placed.nsOf(wave.end) - begin, placed.scope);
    if (wave.issues.empty()) return 0;
    ++traced_;
    sqtt::Match match;
    if (program) match = program->follow(wave);
    matched_ += match.complete;
    int64_t from = begin;
    for (size_t k = 0; k < wave.issues.size(); ++k) {
      if (++instructions_ > kMostInstructions) continue;
      const sqtt::Issue& issue = wave.issues[k];
      const int64_t at = placed.nsOf(issue.cycle);
      launch(k < match.lines.size() ? std::string_view(program->lines()[match.lines[k]].text)
                                    : sqtt::unitName(issue.unit),
             place, from, at - from, placed.scope);
      from = at;
    }
    if (!match.complete) return 0;
    program->addCosts(wave, match, costs);
    return 1;
  }

  const Profile& profile_;
  TraceRows rows_;
  int64_t zero_ = INT64_MAX; ///< the begin of the first span, by the host's clock
  std::map<std::string, std::pair<int64_t, int64_t>> shift_;
  std::map<std::string, std::string> architectures_; ///< of devices, as the driver names them
  std::map<Named, std::vector<Launch>> spans_;
  std::map<Named, std::string_view> programs_;
  std::map<Named, size_t> timesRun_; ///< thread traces of a kernel so far
  std::map<std::tuple<std::string, std::string, int64_t>, std::vector<const Json*>> runs_;
  int64_t launches_ = 0, scopes_ = 0, texts_ = 0, waves_ = 0, traced_ = 0, matched_ = 0, instructions_ = 0;
  std::vector<std::string> warnings_;
};

} // namespace

std::string importProfile(const std::string& file, const std::string& path) {
  const Profile profile(file);
  return ProfileImport(profile, path).write();
}

} // namespace uopscope::cli
