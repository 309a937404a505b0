// Reads an experiment in one pass over its runs, and pairs cells by their settings.
#include "replay/experiment/measured.h"

#include "replay/schema/database.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace uopscope {

namespace {

constexpr size_t kMostCells = 10'000, kMostRuns = 2'000'000, kMostKernels = 200'000;

/// Columns of `run` in the order of kMetrics.
constexpr const char* kRuns =
    "SELECT cell, exit_code, wall_ns, cpu_ns, kernel_ns, compile_ns, schedule_ns, search_ns, peak_bytes, "
    "device_bytes, kernels, launches, output FROM run WHERE round > 0 ORDER BY cell, round";
constexpr int kFirstMetric = 2, kKernels = 10, kLaunches = 11, kOutput = 12;

class Reading {
public:
  Reading(const std::string& path, const std::function<bool()>& stop)
      : experiment_(Experiment::open(path)), db_(experiment_.database()), stop_(stop) {
    out_.path = path;
  }

  Measured read() {
    out_.meta = experiment_.meta();
    std::vector<BenchCell> cells = experiment_.cells();
    if (cells.size() > kMostCells) tooMany(cells.size(), "cells", kMostCells);
    for (BenchCell& cell : cells) out_.cells.emplace_back().cell = std::move(cell);
    for (size_t k = 0; k < out_.cells.size(); ++k) places_.emplace(out_.cells[k].cell.id, k);
    readRuns();
    readKernels();
    for (const int64_t cell : experiment_.captured())
      if (const auto place = places_.find(cell); place != places_.end())
        out_.cells[place->second].captured = true;
    for (MeasuredCell& cell : out_.cells) {
      pause();
      for (size_t m = 0; m < cell.values.size(); ++m) cell.summaries[m] = summarize(cell.values[m]);
    }
    return std::move(out_);
  }

private:
  [[noreturn]] void tooMany(size_t count, const char* what, size_t most) const {
    throw Error(ErrorKind::File, fmt::format("{}: has {} {}, and {} are the most that are shown; "
                                             "the file is damaged, or several experiments would serve better",
                                             out_.path, count, what, most));
  }
  void pause() const {
    if (stop_ && stop_()) throw Error(ErrorKind::Runtime, "the reading was stopped");
  }
  /// Null for a row of a cell that does not exist.
  MeasuredCell* cellOf(const Statement& s) {
    const auto place = places_.find(s.integer(0));
    return place == places_.end() ? nullptr : &out_.cells[place->second];
  }

  void readRuns() {
    size_t runs = 0;
    for (Statement s = db_.prepare(kRuns); s.step();) {
      if (++runs > kMostRuns) tooMany(runs, "runs", kMostRuns);
      if (runs % 4096 == 0) pause();
      MeasuredCell* cell = cellOf(s);
      if (!cell) continue;
      if (s.integer(1) != 0) {
        if (cell->failed++ == 0) cell->failure = s.text(kOutput);
        continue;
      }
      for (size_t m = 0; m < cell->values.size(); ++m)
        if (const int column = kFirstMetric + static_cast<int>(m); !s.isNull(column))
          cell->values[m].push_back(static_cast<double>(s.integer(column)));
      if (!cell->counts && !s.isNull(kLaunches))
        cell->counts = std::pair(s.integer(kKernels), s.integer(kLaunches));
    }
  }

  void readKernels() {
    size_t kernels = 0;
    for (Statement s = db_.prepare(
             "SELECT cell, name, source, launches, median_ns FROM kernel ORDER BY cell, name, source");
         s.step();) {
      if (++kernels > kMostKernels) tooMany(kernels, "kernels", kMostKernels);
      if (kernels % 256 == 0) pause();
      if (MeasuredCell* cell = cellOf(s))
        cell->kernels.push_back({std::string(s.text(1)), std::string(s.text(2)), s.integer(3), s.integer(4)});
    }
  }

  Experiment experiment_;
  const Database& db_;
  const std::function<bool()>& stop_;
  Measured out_;
  std::map<int64_t, size_t> places_;
};

void add(CellPairs& out, std::string name, const MeasuredCell& before, const MeasuredCell& after) {
  if (out.pairs.size() < kMostPairs)
    out.pairs.push_back({std::move(name), &before, &after});
  else
    ++out.left;
}

bool hasOneProgram(const Measured& e) {
  const std::string* program = nullptr;
  for (const MeasuredCell& c : e.cells)
    if (const auto at = c.cell.settings.find("program"); at != c.cell.settings.end()) {
      if (program && *program != at->second) return false;
      program = &at->second;
    }
  return true;
}

} // namespace

std::string Measured::at(const std::string& key) const {
  const auto found = meta.find(key);
  return found == meta.end() ? std::string() : found->second;
}

Measured measured(const std::string& path, const std::function<bool()>& stop) {
  return Reading(path, stop).read();
}

CellPairs pairsWithin(const Measured& experiment) {
  // Cells that agree in all settings but one stand in one group; a group is found by the settings that are left.
  std::map<std::pair<std::string, BenchSettings>, std::vector<const MeasuredCell*>> groups;
  for (const MeasuredCell& c : experiment.cells)
    for (const auto& [name, value] : c.cell.settings) {
      BenchSettings others = c.cell.settings;
      others.erase(name);
      groups[{name, std::move(others)}].push_back(&c);
    }
  CellPairs out;
  for (const auto& [key, cells] : groups) {
    const auto& [name, others] = key;
    for (size_t i = 0; i < cells.size(); ++i)
      for (size_t k = i + 1; k < cells.size(); ++k) {
        std::string text = fmt::format("{} {} to {}", name, cells[i]->cell.settings.at(name),
                                       cells[k]->cell.settings.at(name));
        if (!others.empty()) text += fmt::format(" ({})", BenchCell{0, others}.name());
        add(out, std::move(text), *cells[i], *cells[k]);
      }
  }
  return out;
}

CellPairs pairsBetween(const Measured& before, const Measured& after) {
  // Two files of one program each are two builds: the comparison is of programs then, and the program is no setting.
  const bool builds = hasOneProgram(before) && hasOneProgram(after);
  auto settingsOf = [builds](const MeasuredCell& c) {
    BenchSettings settings = c.cell.settings;
    if (builds) settings.erase("program");
    return settings;
  };
  std::map<BenchSettings, const MeasuredCell*> bySettings;
  for (const MeasuredCell& c : after.cells) bySettings.emplace(settingsOf(c), &c);
  CellPairs out;
  for (const MeasuredCell& c : before.cells)
    if (const auto other = bySettings.find(settingsOf(c)); other != bySettings.end())
      add(out, BenchCell{0, other->first}.name(), c, *other->second);
  return out;
}

Comparison compareMetric(const CellPair& pair, Metric metric) {
  return compareSamples(pair.before->of(metric), pair.after->of(metric));
}

const char* verdictWord(Verdict verdict) {
  switch (verdict) {
  case Verdict::Slower: return "worse";
  case Verdict::Faster: return "better";
  case Verdict::NoDifference: return "no difference";
  case Verdict::TooFew: return "too few runs";
  }
  return "";
}

std::string changeText(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:+.1f} %", (ratio - 1) * 100) : "from 0";
}

std::string incomparable(const Measured& before, const Measured& after) {
  std::string differ;
  for (const auto& [key, words] : {std::pair("machine", "machine"), std::pair("script_hash", "script"),
                                   std::pair("arguments", "arguments")})
    if (before.at(key) != after.at(key)) differ += fmt::format("{}{}", differ.empty() ? "" : ", ", words);
  return differ.empty() ? differ
                        : fmt::format("The two experiments differ in more than the compiler: {}.", differ);
}

} // namespace uopscope
