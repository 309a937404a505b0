// uopscope search run|merge|show|use: BEAM over the kernels of a corpus, cut by kernel.
//
//   uopscope search run model.uopcorpus --beam 2 --part 1/4 -o 1.uopsearch       on four machines
//   uopscope search merge 1.uopsearch 2.uopsearch 3.uopsearch 4.uopsearch -o model.uopsearch
//   uopscope search use model.uopsearch && BEAM=2 uopscope run model.py
#include "app/cli/search_command.h"

#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/part.h"
#include "app/cli/replay_command.h"
#include "app/cli/sandbox.h"
#include "engine/codegen/opt.h"
#include "replay/compare/searched.h"
#include "replay/schema/quantity_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

namespace uopscope::cli {

namespace {

std::string textOf(const std::vector<Opt>& opts) {
  std::vector<std::string> words;
  for (const Opt& o : opts)
    words.push_back(fmt::format("{} {} {}", optOpName(o.op), o.axis, fmt::join(o.arg, ",")));
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, "; "));
}

/// The time of the kernel with the Opts of the heuristic, and the best one; -1 where unknown. Round 0 holds the
/// kernel as it is and, where it differs, that of the heuristic.
std::pair<int64_t, int64_t> times(const SearchedKernel& k) {
  int64_t heuristic = -1, best = -1;
  for (const SearchedCandidate& c : k.candidates) {
    if (c.ns < 0) continue;
    if (c.round == 0) heuristic = c.ns; // the last one of the round
    best = best < 0 ? c.ns : std::min(best, c.ns);
  }
  return {heuristic, best};
}

void refuseSame(const std::string& input, const std::string& output) {
  std::error_code ignored;
  if (std::filesystem::equivalent(input, output, ignored))
    throw Error(ErrorKind::Value, fmt::format("{}: is an input; name another file with -o", output));
}

int runSearch(const SearchArguments& a) {
  refuseSame(a.corpus, a.output);
  const Part part = partOf(a.part);
  if (!a.trust) continueInSandbox("search run", {a.corpus}, "kernels", a.output);
  const StoredCompilations stored = openStored(a.corpus);
  const StopOnInterrupt interrupt;
  SearchCorpusOptions o{.width = a.width, .timeoutSeconds = a.timeout, .stop = StopOnInterrupt::asked()};
  o.wants = [part](size_t kernel) { return part.has(kernel); };
  const bool tells = !a.quiet && isatty(2);
  if (tells)
    o.progress = [](size_t done, size_t total, const std::string& name) {
      fmt::print(stderr, "\r\x1b[Ksearching {} of {}: {} ", done + 1, total, name);
      std::fflush(stderr);
    };
  const Searches found = searchCorpus(stored.path(), o);
  if (tells) fmt::print(stderr, "\r\x1b[K");
  writeSearches(found, a.output);
  size_t searched = 0, candidates = 0;
  for (const SearchedKernel& k : found.found)
    searched += k.skipped.empty(), candidates += k.candidates.size();
  if (!a.quiet)
    fmt::print("{}: {} of {} searched, {}\n", a.output, searched, countedText(found.found.size(), "kernel"),
               countedText(candidates, "candidate"));
  return kFine;
}

int mergeSearch(const SearchArguments& a) {
  std::vector<std::pair<std::string, Searches>> parts;
  for (const std::string& file : a.files) {
    refuseSame(file, a.output);
    parts.emplace_back(file, readSearches(file));
  }
  const Searches all = mergeSearches(parts);
  writeSearches(all, a.output);
  if (!a.quiet)
    fmt::print("{}: {}, {}\n", a.output, countedText(parts.size(), "part"),
               countedText(all.found.size(), "kernel"));
  return kFine;
}

int showSearch(const SearchArguments& a) {
  const Searches s = readSearches(a.corpus);
  if (a.json) {
    Json out = Json::array();
    for (const SearchedKernel& k : s.found) {
      const auto [heuristic, best] = times(k);
      Json one{{"kernel", k.name},          {"device", k.device},         {"machine", k.machine},
               {"skipped", k.skipped},      {"best", textOf(k.best)},     {"best_ns", best},
               {"heuristic_ns", heuristic}, {"candidates", Json::array()}};
      for (const SearchedCandidate& c : k.candidates)
        one["candidates"].push_back(
            {{"opts", textOf(c.opts)}, {"round", c.round}, {"ns", c.ns}, {"refusal", c.refusal}});
      out.push_back(std::move(one));
    }
    printJson(out);
    return kFine;
  }
  Table table({"kernel", "device", "candidates", "heuristic", "best", "times faster", "Opts"});
  for (const SearchedKernel& k : s.found) {
    const auto [heuristic, best] = times(k);
    if (!k.skipped.empty()) {
      table.add({k.name, k.device, "-", "-", "-", "-", k.skipped});
      continue;
    }
    auto time = [](int64_t ns) { return ns < 0 ? std::string("-") : durationText(ns); };
    table.add({k.name, k.device, std::to_string(k.candidates.size()), time(heuristic), time(best),
               best > 0 && heuristic > 0
                   ? fmt::format("{:.2f}", static_cast<double>(heuristic) / static_cast<double>(best))
                   : "-",
               textOf(k.best)});
  }
  table.print();
  fmt::print("BEAM={}; {} of {} kernels of the corpus\n", s.width, s.found.size(), s.kernels);
  return kFine;
}

int useSearch(const SearchArguments& a) {
  const Searches s = readSearches(a.corpus);
  const SearchesUsed used = useSearches(s);
  if (!a.quiet) fmt::print("{} kernels: compiling with BEAM={} takes what was found\n", used.kept, s.width);
  if (used.elsewhere)
    fmt::print(stderr, "uopscope: {} of them were timed on another machine; here others may be faster\n",
               used.elsewhere);
  for (const std::string& k : used.no) fmt::print(stderr, "uopscope: {}: there is no such device here\n", k);
  return kFine;
}

} // namespace

void addSearchVerb(CLI::App& app, SearchArguments& a, int& code) {
  CLI::App* search =
      app.add_subcommand("search", "BEAM over the kernels of a corpus, in parts for several machines");
  search->require_subcommand(1);
  CLI::App* run = search->add_subcommand("run", "search the Opts of every kernel; kernels run in a sandbox");
  run->add_option("CORPUS", a.corpus, "a .uopcorpus or .uoptrace file")->required();
  run->add_option("--beam", a.width, "width of the search (default 2)")->check(CLI::Range(1, 1000));
  run->add_option("--part", a.part, "I/N: one of N shares of the kernels; `search merge` joins them");
  run->add_option("--timeout", a.timeout, "seconds for one kernel (default 600)")
      ->check(CLI::Range(1, 86400));
  run->add_option("-o,--output", a.output, "the result, a .uopsearch file")->required();
  run->add_flag("--trust", a.trust, "run the kernels without asking and without a sandbox");
  run->add_flag("-q,--quiet", a.quiet, "no progress, no summary");
  run->callback([&] { code = runSearch(a); });
  CLI::App* merge = search->add_subcommand("merge", "the parts of a search as one");
  merge->add_option("PARTS", a.files, "files of `search run --part`, all of them")->required();
  merge->add_option("-o,--output", a.output, "the whole")->required();
  merge->add_flag("-q,--quiet", a.quiet, "no summary");
  merge->callback([&] { code = mergeSearch(a); });
  CLI::App* show =
      search->add_subcommand("show", "the kernels of a search, with the times of heuristic and best");
  show->add_option("FILE", a.corpus, "a .uopsearch file")->required();
  show->add_flag("--json", a.json, "JSON, with every candidate");
  show->callback([&] { code = showSearch(a); });
  CLI::App* use =
      search->add_subcommand("use", "keep what was found, for compilations with BEAM on this machine");
  use->add_option("FILE", a.corpus, "a .uopsearch file")->required();
  use->add_flag("-q,--quiet", a.quiet, "no summary");
  use->callback([&] { code = useSearch(a); });
}

} // namespace uopscope::cli
