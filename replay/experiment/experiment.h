// An experiment: one script under a matrix of settings, kept in a file (.uopbench, an SQLite database;
// bench.sql describes it). The file records all conditions of a result: machine, build, settings, seed, order
// of runs.
//
//   Experiment e = Experiment::create("matmul.uopbench", {{"script", "samples/matmul.py"}});
//   int64_t cell = e.cell({{"NOOPT", "1"}});
//   e.add({.cell = cell, .round = 1, ...});
//   Summary wall = summarize(e.values(cell, Metric::Wall));
//
// A file that is no experiment, damaged, or written by a newer program throws Error(File).
#pragma once
#include "replay/schema/database.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace uopscope {

using BenchSettings = std::map<std::string, std::string>;

enum class Metric { Wall, Cpu, Kernel, Compile, Schedule, Search, Peak, DeviceBytes };
constexpr Metric kMetrics[] = {Metric::Wall,     Metric::Cpu,    Metric::Kernel, Metric::Compile,
                               Metric::Schedule, Metric::Search, Metric::Peak,   Metric::DeviceBytes};
/// Short name of a metric: "wall", "cpu" ...
const char* metricName(Metric metric);
/// Whether the metric counts bytes; otherwise it counts nanoseconds.
bool isBytes(Metric metric);
/// "1.23 ms", "45.6 µs", "120.4 MB".
std::string amountText(Metric metric, double value);
/// The same in the unit that `like` is written in, so that the numbers of an axis have one unit.
std::string amountText(Metric metric, double value, double like);

struct BenchRun {
  int64_t cell = 0;
  int round = 0; ///< 0 and below: warm-up
  int64_t place = 0;
  int exitCode = 0;
  int64_t wallNs = 0, cpuNs = 0, peakBytes = 0;
  nlohmann::json measured; ///< RunMeter::report(); null where the program reports nothing
  std::string output;      ///< the end of the run's output
};

struct BenchCell {
  int64_t id = 0;
  BenchSettings settings;
  /// "NOOPT=1 DEV=REF"; "as it is" without settings.
  std::string name() const;
};

struct BenchKernel {
  std::string name, source;
  int64_t launches = 0, medianNs = 0;
};

class Experiment {
public:
  static Experiment create(const std::string& path, const std::map<std::string, std::string>& meta);
  static Experiment open(const std::string& path);

  /// The cell with these settings; adds one where none exists.
  int64_t cell(const BenchSettings& settings);
  void add(const BenchRun& run);
  /// Keeps the compilations of a cell: the bytes of a corpus file. A second corpus of a cell is ignored.
  void keepCompilations(int64_t cell, const std::string& corpus);
  /// Adds the runs of another part of the same experiment. Throws Error(Value) where script, matrix or seed
  /// differ.
  void merge(const Experiment& part);

  std::vector<BenchCell> cells() const;
  /// Values of counted runs that ended well, in order of rounds.
  std::vector<double> values(int64_t cell, Metric metric) const;
  /// Number of counted runs of the cell that did not end well, and the end of the first one's output.
  std::pair<int64_t, std::string> failures(int64_t cell) const;
  std::optional<std::pair<int64_t, int64_t>> kernelsAndLaunches(int64_t cell) const;
  std::vector<BenchKernel> kernels(int64_t cell) const;
  /// The cells that have their compilations.
  std::vector<int64_t> captured() const;
  /// The bytes of the cell's corpus; nothing where none was captured.
  std::optional<std::string> compilations(int64_t cell) const;
  std::string meta(const std::string& key) const;
  std::map<std::string, std::string> meta() const;
  const std::string& path() const { return db_.path(); }
  const Database& database() const { return db_; }

private:
  explicit Experiment(Database db) : db_(std::move(db)) {}
  Database db_;
};

} // namespace uopscope
