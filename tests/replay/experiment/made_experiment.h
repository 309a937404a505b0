// An experiment file with made-up runs, so that verdicts are known: NOOPT=0 and NOOPT=1 on CPU and REF, eight runs
// each. Wall times are `wall(settings)` milliseconds, and a little more from run to run.
//
//   MadeExperiment before, after({.factor = 1.05});
#pragma once
#include "replay/experiment/experiment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace uopscope::test {

struct MadeExperiment {
  struct Options {
    double factor = 1;    ///< of all times
    int runs = 8;         ///< of each cell
    bool failing = false; ///< whether the last run of the first cell fails
    std::string machine = "a machine of the tests";
    std::string script = "samples/matmul.py";
    std::string program;                   ///< a setting of all cells; empty: none
    std::vector<std::string> corpora = {}; ///< files with the compilations of the cells, in turn
  };
  std::string path;

  MadeExperiment() : MadeExperiment(Options{}) {}
  explicit MadeExperiment(const Options& o) {
    static int number = 0;
    path = (std::filesystem::temp_directory_path() / fmt::format("made-{}-{}.uopbench", getpid(), ++number))
               .string();
    Experiment e = Experiment::create(path, {{"script", o.script},
                                             {"script_hash", "00"},
                                             {"arguments", ""},
                                             {"matrix", "[]"},
                                             {"repeat", std::to_string(o.runs)},
                                             {"warmup", "1"},
                                             {"seed", "0"},
                                             {"machine", o.machine},
                                             {"started", "2026-11-23 10:00:00 UTC"}});
    for (const char* device : {"CPU", "REF"})
      for (const char* noopt : {"0", "1"}) {
        BenchSettings settings{{"DEV", device}, {"NOOPT", noopt}};
        if (!o.program.empty()) settings["program"] = o.program;
        const int64_t cell = e.cell(settings);
        const double ms = (device[0] == 'R' ? 300 : 100) + (noopt[0] == '1' ? 60 : 0);
        if (!o.corpora.empty()) {
          std::ifstream in(o.corpora[static_cast<size_t>(cell - 1) % o.corpora.size()], std::ios::binary);
          e.keepCompilations(cell, std::string(std::istreambuf_iterator<char>(in), {}));
        }
        for (int round = 0; round <= o.runs; ++round) {
          BenchRun run{.cell = cell, .round = round, .place = round};
          run.wallNs = static_cast<int64_t>(1e6 * o.factor * (ms + 0.5 * round));
          run.cpuNs = run.wallNs * 9 / 10;
          run.peakBytes = 50'000'000 + 1000 * round;
          run.measured = {{"schedule_ns", 2'000'000},
                          {"compile_ns", 5'000'000 + 1000 * round},
                          {"search_ns", 0},
                          {"kernel_ns", static_cast<int64_t>(o.factor * (40'000 + 10 * round))},
                          {"kernels", 2},
                          {"launches", 3},
                          {"device_bytes", 4096}};
          run.measured["by_kernel"] = {
              {{"name", "r_4_4"},
               {"launches", 2},
               {"median_ns", 12'000},
               {"source", "void r_4_4() { /* " + std::string(noopt) + " */ }"}},
              {{"name", "E_16"}, {"launches", 1}, {"median_ns", 3'000}, {"source", "void E_16() {}"}}};
          if (o.failing && cell == 1 && round == o.runs) {
            run.exitCode = 3;
            run.output = "ValueError: no such size";
          }
          e.add(run);
        }
      }
  }
  ~MadeExperiment() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  MadeExperiment(const MadeExperiment&) = delete;
  MadeExperiment& operator=(const MadeExperiment&) = delete;
};

} // namespace uopscope::test
