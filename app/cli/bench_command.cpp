// uopscope bench run and merge: measures a script under a matrix of settings, in turn; and the options of
// every sub-verb of bench.
#include "app/cli/bench_command.h"

#include "app/cli/output.h"
#include "app/cli/part.h"
#include "replay/compare/stored_compilations.h"
#include "replay/experiment/run_script.h"
#include "replay/record/machine.h"
#include "replay/record/story.h"
#include "replay/schema/reading_guard.h"
#include "replay/schema/schema.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace uopscope::cli {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> splitAt(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::stringstream in(text);
  for (std::string word; std::getline(in, word, separator);) out.push_back(word);
  return out;
}

/// Every combination of settings that takes one value of each axis.
std::vector<BenchSettings> matrixOf(const BenchArguments& a) {
  std::vector<std::pair<std::string, std::vector<std::string>>> axes;
  auto add = [&](const std::string& name, std::vector<std::string> values) {
    if (!values.empty()) axes.emplace_back(name, std::move(values));
  };
  for (const std::string& set : a.sets) {
    const size_t equals = set.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == set.size())
      throw Error(ErrorKind::Value,
                  fmt::format("--set {}: give a setting with its values, such as NOOPT=0,1", set));
    add(set.substr(0, equals), splitAt(set.substr(equals + 1), ','));
  }
  auto all = [](const std::vector<std::string>& lists) {
    std::vector<std::string> out;
    for (const std::string& l : lists)
      for (std::string& word : splitAt(l, ',')) out.push_back(std::move(word));
    return out;
  };
  add("DEV", all(a.devices));
  add("BEAM", all(a.beams));
  add("program", all(a.programs));
  std::vector<BenchSettings> cells{{}};
  for (const auto& [name, values] : axes) {
    std::vector<BenchSettings> more;
    for (const BenchSettings& cell : cells)
      for (const std::string& value : values) {
        BenchSettings next = cell;
        if (!next.emplace(name, value).second)
          throw Error(ErrorKind::Value, fmt::format("{} is given twice; name each setting once", name));
        more.push_back(std::move(next));
      }
    cells = std::move(more);
  }
  return cells;
}

std::string contentHash(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw Error(ErrorKind::File, fmt::format("{}: cannot be read; give the path of a Python script", path));
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  return fmt::format("{:016x}", hashText(text));
}

std::map<std::string, std::string> metaOf(const BenchArguments& a, const std::vector<BenchSettings>& cells) {
  nlohmann::json matrix = nlohmann::json::array();
  for (const BenchSettings& c : cells) matrix.push_back(c);
  return {{"script", a.script},
          {"script_hash", contentHash(a.script)},
          {"arguments", fmt::format("{}", fmt::join(a.arguments, " "))},
          {"matrix", matrix.dump()},
          {"repeat", std::to_string(a.repeat)},
          {"warmup", std::to_string(a.warmup)},
          {"seed", std::to_string(a.seed)},
          {"machine", machineText()},
          {"uopscope", std::string(kProgramVersion)},
          {"started", fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr)))}};
}

/// Refuses to replace hours of measurements unless the person asks for it.
void refuseExisting(const std::string& output, const BenchArguments& a) {
  std::error_code ignored;
  if (!a.overwrite && fs::exists(output, ignored))
    throw Error(ErrorKind::File,
                fmt::format("{}: exists; give another name to -o, or --overwrite to replace it", output));
}

void keepCompilations(Experiment& e, int64_t cell, const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored) || fs::file_size(path, ignored) == 0)
    return; // no program of ours, or no kernel
  Corpus::append(path).pack();
  if (fs::file_size(path, ignored) > kMostValueBytes) return; // no file of that size is read again
  std::ifstream in(path, std::ios::binary);
  e.keepCompilations(cell, std::string((std::istreambuf_iterator<char>(in)), {}));
}

int runBench(const BenchArguments& a) {
  const std::vector<BenchSettings> cells = matrixOf(a);
  const Part part = partOf(a.part);
  const std::string output = a.output.empty() ? fs::path(a.script).stem().string() + ".uopbench" : a.output;
  refuseExisting(output, a);
  Experiment e = Experiment::create(output, metaOf(a, cells));
  std::vector<int64_t> ids;
  for (const BenchSettings& c : cells) ids.push_back(e.cell(c));
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  const auto total = static_cast<int64_t>(cells.size()) * (a.repeat + a.warmup);
  int64_t place = 0, failed = 0;
  for (int round = 1 - a.warmup; round <= a.repeat; ++round) {
    // Every round shuffles the order of the cells, so that drift of the machine affects all cells alike.
    std::vector<size_t> order(cells.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::mt19937 random(a.seed * 1'000'003u + static_cast<unsigned>(round + a.warmup));
    for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random() % k]);
    for (size_t k : order) {
      ++place;
      if (round > 0 && !part.has(place)) continue; // each part has its own warm-up runs
      if (!a.quiet && isatty(2))
        fmt::print(stderr, "\r\x1b[Krun {} of {}  {}", place, total, BenchCell{0, cells[k]}.name());
      const auto program = cells[k].find("program");
      ScriptRun asked{
          program == cells[k].end() ? self : program->second, a.script, a.arguments, cells[k], a.timeout, {}};
      // The first warm-up run of a cell keeps stories, IR and sources. One part keeps them for all.
      std::optional<TemporaryFile> corpus;
      if (round == 1 - a.warmup && round <= 0 && part.index == 0)
        asked.corpus = corpus.emplace(".uopcorpus").path();
      BenchRun run = runScriptOnce(asked);
      if (corpus) keepCompilations(e, ids[k], corpus->path());
      run.cell = ids[k];
      run.round = round;
      run.place = place;
      failed += run.exitCode != 0;
      e.add(run);
    }
  }
  if (!a.quiet && isatty(2)) fmt::print(stderr, "\r\x1b[K");
  if (!a.quiet) fmt::print("{}: {} cells, {} runs, {} failed\n", output, cells.size(), place, failed);
  return failed ? kFailed : kFine;
}

int mergeBench(const BenchArguments& a) {
  std::error_code ignored;
  for (const std::string& file : a.files)
    if (fs::equivalent(file, a.output, ignored))
      throw Error(ErrorKind::Value,
                  fmt::format("{}: is one of the parts; give another name to -o", a.output));
  refuseExisting(a.output, a);
  Experiment first = Experiment::open(a.files.at(0));
  Experiment whole = Experiment::create(a.output, first.meta());
  for (const std::string& file : a.files) whole.merge(Experiment::open(file));
  if (!a.quiet) fmt::print("{}: {} parts\n", a.output, a.files.size());
  return kFine;
}

/// Writes the corpus of a cell, for `replay`, `whatif` and `search`.
int benchKernels(const BenchArguments& a) {
  refuseExisting(a.output, a);
  const Experiment e = Experiment::open(a.file);
  std::vector<std::string> names;
  for (const BenchCell& c : e.cells()) {
    names.push_back(c.name());
    if (!a.cell.empty() && c.name() != a.cell) continue;
    const auto corpus = e.compilations(c.id);
    if (!corpus)
      throw Error(ErrorKind::Value,
                  fmt::format("{}: the cell \"{}\" has no compilations; `bench run` keeps those of "
                              "the first warm-up run of programs that are uopscope",
                              a.file, c.name()));
    std::ofstream out(a.output, std::ios::binary | std::ios::trunc);
    out << *corpus;
    out.close();
    if (!out) throw Error(ErrorKind::File, fmt::format("{}: cannot be written", a.output));
    if (!a.quiet)
      fmt::print("{}: {} compilations of {}\n", a.output, Corpus::open(a.output).entries().size(), c.name());
    return kFine;
  }
  throw Error(ErrorKind::Value, fmt::format("{}: has no cell \"{}\"; its cells are: {}", a.file, a.cell,
                                            fmt::join(names, ", ")));
}

} // namespace

void addBenchVerb(CLI::App& app, BenchArguments& a, int& code) {
  CLI::App* bench =
      app.add_subcommand("bench", "experiments: a script under a matrix of settings, measured in turn");
  bench->footer("uopscope bench SCRIPT.py ... is short for uopscope bench run SCRIPT.py ...");
  bench->require_subcommand(1);
  CLI::App* run = bench->add_subcommand("run", "run the matrix; every round in an order of its own");
  run->add_option("SCRIPT", a.script, "a Python script")->required();
  run->add_option("--repeat", a.repeat, "counted runs of each cell (default 10)")
      ->check(CLI::Range(1, 100000));
  run->add_option("--warmup", a.warmup, "runs before them (default 1)")->check(CLI::Range(0, 1000));
  run->add_option("--set", a.sets, "a setting and its values: NOOPT=0,1; may be given several times")
      ->expected(1)
      ->take_all();
  run->add_option("--device", a.devices, "devices: CPU,REF")->expected(1)->take_all();
  run->add_option("--beam", a.beams, "widths of the search: 0,2")->expected(1)->take_all();
  run->add_option("--program", a.programs,
                  "other builds of uopscope, or a Python with the reference: build-a/bin/uopscope,python3")
      ->expected(1)
      ->take_all();
  run->add_option("--seed", a.seed, "of the orders (default 0)");
  run->add_option("--timeout", a.timeout, "seconds a run may take (default: as long as it does)")
      ->check(CLI::NonNegativeNumber);
  run->add_option("--part", a.part,
                  "I/N: one of N shares of the runs, for several machines; `bench merge` joins them");
  run->add_option("-o,--output", a.output, "the experiment (default: SCRIPT's name with .uopbench, here)");
  run->add_flag("--overwrite", a.overwrite, "replace an experiment that is there");
  run->add_flag("-q,--quiet", a.quiet, "no progress, no summary");
  run->add_option("ARGS", a.arguments, "of the script, after --");
  run->callback([&] { code = runBench(a); });
  CLI::App* show = bench->add_subcommand("show", "an experiment as a table, JSON or an HTML page");
  show->add_option("FILE", a.file, "a .uopbench file")->required();
  show->add_option("--html", a.html, "write a page with plots to this file");
  show->add_flag("--json", a.json, "JSON instead of text");
  show->add_flag("--open", a.open, "in the window");
  show->add_option("--screenshot", a.screenshot, "the page of --open as a PNG; needs no display");
  show->callback([&] { code = showBench(a); });
  CLI::App* compare = bench->add_subcommand(
      "compare", "better, worse or no difference: two experiments, or the cells of one");
  compare->add_option("FILE", a.file, "a .uopbench file")->required();
  compare->add_option("OTHER", a.other, "another; without it, cells of FILE that differ in one setting");
  compare->add_flag("--json", a.json, "JSON instead of text");
  compare->add_option("--html", a.html, "write a page with plots to this file");
  compare->add_flag("--open", a.open, "in the window");
  compare->add_option("--screenshot", a.screenshot, "the page of --open as a PNG; needs no display");
  compare->footer("Exit code 1 if the wall time of a cell is worse.");
  compare->callback([&] { code = compareBench(a); });
  CLI::App* kernels = bench->add_subcommand(
      "kernels",
      "the compilations of a cell, with stories and IR, as a corpus for `replay`, `whatif`, `search`");
  kernels->add_option("FILE", a.file, "a .uopbench file")->required();
  kernels->add_option("--cell", a.cell, "its settings as `bench show` prints them (default: the first cell)");
  kernels->add_option("-o,--output", a.output, "a .uopcorpus file")->required();
  kernels->add_flag("--overwrite", a.overwrite, "replace a file that is there");
  kernels->callback([&] { code = benchKernels(a); });
  CLI::App* merge = bench->add_subcommand("merge", "the parts of an experiment as one");
  merge->add_option("PARTS", a.files, ".uopbench files made with --part")->required();
  merge->add_option("-o,--output", a.output, "the whole")->required();
  merge->add_flag("--overwrite", a.overwrite, "replace an experiment that is there");
  merge->callback([&] { code = mergeBench(a); });
}

void nameRun(std::vector<std::string>& arguments) {
  if (arguments.size() < 3) return;
  const std::string& word = arguments[2];
  const bool option = word.starts_with("--") && word != "--help";
  if (option || word.ends_with(".py")) arguments.insert(arguments.begin() + 2, "run");
}

} // namespace uopscope::cli
