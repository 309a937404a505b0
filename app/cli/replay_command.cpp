// The verbs capture, run, diff, ls and show of uopscope replay.
#include "app/cli/replay_command.h"

#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/part.h"
#include "app/cli/sandbox.h"
#include "replay/compare/merge_replays.h"
#include "replay/compare/recompile.h"
#include "replay/compare/replay.h"
#include "replay/compare/report.h"
#include "replay/record/capture_session.h"
#include "replay/schema/quantity_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace uopscope::cli {

namespace fs = std::filesystem;

namespace {

ReplayOptions optionsOf(const ReplayArguments& o) {
  ReplayOptions r{.jobs = o.jobs, .timeoutSeconds = o.timeout, .memoryMb = o.memory, .assembly = o.assembly};
  r.without = o.without;
  r.codeOnly = o.codeOnly;
  r.stop = StopOnInterrupt::asked();
  if (!o.part.empty()) r.wants = [part = partOf(o.part)](size_t input) { return part.has(input); };
  if (!o.quiet && isatty(2))
    r.progress = [](const ReplayProgress& p) {
      fmt::print(stderr, "\r\x1b[Kreplaying {} of {}{} ", p.done, p.total,
                 p.failed ? fmt::format(", {} failed", p.failed) : "");
      if (p.done == p.total) fmt::print(stderr, "\r\x1b[K");
      std::fflush(stderr);
    };
  return r;
}

void refuseSameFile(const std::string& input, const std::string& output) {
  std::error_code ignored;
  if (fs::equivalent(input, output, ignored))
    throw Error(ErrorKind::Value, fmt::format("{}: is the input; name another file with -o", output));
}

/// `kept`: the result is a file of the user, not of this process alone.
ReplaySummary replayTo(const std::string& corpus, const std::string& result, const ReplayArguments& o,
                       bool kept) {
  refuseSameFile(corpus, result);
  // A report says the warning itself.
  const StoredCompilations stored = kept ? openStored(corpus) : StoredCompilations(corpus);
  StopOnInterrupt stop;
  ReplaySummary s = replayCorpus(stored.path(), result, optionsOf(o));
  Corpus written = Corpus::append(result);
  describeBuild(written, selfPath());
  written.setMeta("measured", "by replay");
  if (kept) written.pack();
  return s;
}

CorpusDiff compare(const Corpus& a, const Corpus& b, const ReplayArguments& o) {
  DiffOptions options{.ignoreNames = o.ignoreNames};
  if (!o.quiet && isatty(2))
    options.progress = [](size_t done, size_t total) {
      if (done == total)
        fmt::print(stderr, "\r\x1b[K");
      else if (done % 256 == 0)
        fmt::print(stderr, "\r\x1b[Kcomparing {} of {} ", done, total);
    };
  return diffCorpora(a, b, options);
}

/// Shows the comparison in the window. The window reads the files until it is closed.
int openInWindow(const ReplayArguments& o, const std::string& before, const std::string& after) {
  OpenOptions window;
  window.compare = {before, after};
  window.screenshot = o.screenshot;
  window.ignoreNames = o.ignoreNames;
  return open(window);
}

int report(const ReplayArguments& o, const std::string& before, const std::string& after) {
  if (o.open || !o.screenshot.empty()) return openInWindow(o, before, after);
  const StoredCompilations storedBefore(before), storedAfter(after);
  Corpus a = Corpus::open(storedBefore.path()), b = Corpus::open(storedAfter.path());
  CorpusDiff d = compare(a, b, o);
  // A trace warns by itself; the corpus made of it does not.
  for (const StoredCompilations* side : {&storedBefore, &storedAfter})
    if (!side->warning().empty() && std::ranges::find(d.warnings, side->warning()) == d.warnings.end())
      d.warnings.push_back(side->warning());
  if (o.runKernels) runChanges(d, a, b, o.timeout);
  ReportOptions r{.colour = useColour(),
                  .diffs = o.diffs,
                  .ignoreNames = o.ignoreNames,
                  .limit = o.all ? size_t{0} : size_t{20},
                  .only = o.only};
  if (!o.output.empty()) {
    std::string end = fs::path(o.output).extension().string();
    r.colour = false;
    std::string text = end == ".html"   ? reportHtml(d, a, b, r)
                       : end == ".md"   ? reportMarkdown(d, a, b, r)
                       : end == ".json" ? reportJson(d, a, b, r)
                       : end == ".txt"  ? reportText(d, a, b, r)
                                        : std::string();
    if (text.empty())
      throw Error(ErrorKind::Value,
                  fmt::format("{}: the ending says the form: .html, .md, .json or .txt", o.output));
    std::ofstream out(o.output, std::ios::binary);
    if (!(out << text).flush()) throw Error(ErrorKind::File, fmt::format("{}: cannot be written", o.output));
    for (const std::string& warning : d.warnings) fmt::print(stderr, "uopscope: {}\n", warning);
    fmt::print("{}\n", headline(d));
    for (const ChangeGroup& g : d.groups) fmt::print("  {:>6}  {}\n", g.changes.size(), g.cause);
  } else if (o.json) {
    fmt::print("{}", reportJson(d, a, b, r));
  } else if (o.markdown) {
    fmt::print("{}", reportMarkdown(d, a, b, r));
  } else {
    fmt::print("{}", reportText(d, a, b, r));
  }
  return o.assertSame && d.anyChange() ? kFailed : kFine;
}

int captureScripts(const std::vector<std::string>& scripts, const std::string& corpus, bool quiet,
                   const std::string& program) {
  int code = kFine;
  for (const std::string& script : scripts) {
    if (std::error_code ignored; !fs::exists(script, ignored))
      throw Error(ErrorKind::File, fmt::format("{}: no such file", script));
    if (!quiet) fmt::print(stderr, "capturing {}\n", script);
    int ended = runProgram(
        {program, "run", script}, {}, quiet ? "/dev/null" : "",
        {{"CAPTURE_PROCESS_REPLAY", "1"}, {"UOPSCOPE_CORPUS", corpus}, {"UOPSCOPE_CORPUS_PACK", "later"}});
    if (ended == kInterrupted || ended == 128 + SIGINT) return kInterrupted;
    if (ended != 0) {
      fmt::print(stderr, "uopscope: {} ended with exit code {}; its compilations up to then are kept\n",
                 script, ended);
      code = kFailed;
    }
  }
  return code;
}

std::vector<std::string> sampleScripts(const std::string& repository) {
  std::vector<std::string> scripts;
  std::error_code ignored;
  for (const auto& e :
       fs::directory_iterator(fs::path(repository.empty() ? "." : repository) / "samples", ignored))
    if (e.path().extension() == ".py") scripts.push_back(e.path().string());
  std::sort(scripts.begin(), scripts.end());
  if (scripts.empty())
    throw Error(
        ErrorKind::Value,
        "no corpus was given, and there is no samples folder here to capture; give a .uopcorpus file");
  return scripts;
}

/// Replays with the build of a commit.
void replayWith(const CommitBuilds& builds, const std::string& program, const std::string& commit,
                const std::string& corpus, const std::string& result, const ReplayArguments& o) {
  std::vector<std::string> command{program,
                                   "replay",
                                   "run",
                                   corpus,
                                   "-o",
                                   result,
                                   "-q",
                                   "--timeout",
                                   std::to_string(o.timeout),
                                   "--memory",
                                   std::to_string(o.memory)};
  if (o.jobs) command.insert(command.end(), {"-j", std::to_string(o.jobs)});
  if (o.assembly) command.push_back("--asm");
  if (o.codeOnly) command.push_back("--code-only");
  if (!o.part.empty()) command.insert(command.end(), {"--part", o.part});
  TemporaryFile log(".log");
  int code = runProgram(command, {}, log.path());
  std::error_code ignored;
  if ((code != 0 && code != kFailed) || !fs::exists(result, ignored)) {
    std::ifstream in(log.path());
    std::string text((std::istreambuf_iterator<char>(in)), {});
    throw Error(ErrorKind::Runtime, fmt::format("the build of {} does not replay (exit code {}): {}",
                                                builds.subject(commit), code, text));
  }
  Corpus replayed = Corpus::append(result);
  replayed.setMeta("commit", commit);
  replayed.setMeta("title", builds.subject(commit));
}

int diffCommits(const ReplayArguments& o) {
  CommitBuilds builds(o.repository, o.build, o.program);
  std::string from = builds.resolve(o.commits[0]), to = builds.resolve(o.commits[1]);
  if (builds.dirty())
    fmt::print(stderr,
               "uopscope: the work tree has changes that are in neither commit; they are not part of this\n");
  std::string before = builds.build(from), after = builds.build(to);
  TemporaryFile captured(".uopcorpus"), a(".uopcorpus"), b(".uopcorpus");
  std::string corpus = o.inputs.empty() ? captured.path() : o.inputs[0];
  if (o.inputs.empty()) captureScripts(sampleScripts(o.repository), corpus, true, before);
  StoredCompilations stored = openStored(corpus);
  replayWith(builds, before, from, stored.path(), a.path(), o);
  replayWith(builds, after, to, stored.path(), b.path(), o);
  return report(o, a.path(), b.path());
}

} // namespace

int replayCapture(const ReplayArguments& o) {
  Corpus::append(o.output); // throws at once if the file cannot be written
  int code = captureScripts(o.inputs, o.output, o.quiet, selfPath());
  Corpus::append(o.output).pack(true);
  size_t kernels = 0, schedules = 0;
  for (const CorpusEntry& e : Corpus::open(o.output).entries()) ++(e.isKernel() ? kernels : schedules);
  std::error_code ignored;
  fmt::print("{}: {}, {}, {}\n", o.output, countedText(kernels, "kernel"), countedText(schedules, "schedule"),
             sizeText(static_cast<int64_t>(fs::file_size(o.output, ignored))));
  return code;
}

int replayRun(const ReplayArguments& o) {
  if (!o.commit.empty()) {
    CommitBuilds builds(o.repository, o.build, o.program);
    std::string commit = builds.resolve(o.commit);
    refuseSameFile(o.corpus, o.output);
    StoredCompilations stored = openStored(o.corpus);
    replayWith(builds, builds.build(commit), commit, stored.path(), o.output, o);
    fmt::print("{}: {} compilations by the build of {}\n", o.output, Corpus::open(o.output).entries().size(),
               builds.subject(commit));
    return kFine;
  }
  ReplaySummary s = replayTo(o.corpus, o.output, o, true);
  if (o.json) {
    printJson({{"ok", s.ok},
               {"same", s.same},
               {"failed", s.failed},
               {"crashed", s.crashed},
               {"timeout", s.timedOut},
               {"left", s.left},
               {"wall_ns", s.wallNs},
               {"compile_ns", s.compileNs}});
  } else {
    fmt::print("{} compiled in {}, {} of them with the code and the rules applied that are stored",
               countText(static_cast<int64_t>(s.ok)), durationText(s.wallNs),
               countText(static_cast<int64_t>(s.same)));
    for (auto [n, what] : {std::pair{s.failed, "failed"},
                           {s.crashed, "crashed"},
                           {s.timedOut, "timed out"},
                           {s.left, "not reached"}})
      if (n) fmt::print(", {} {}", countText(static_cast<int64_t>(n)), what);
    fmt::print("\n");
  }
  if (*StopOnInterrupt::asked()) return kInterrupted;
  return s.failed + s.crashed + s.timedOut ? kFailed : kFine;
}

int replayMerge(const ReplayArguments& o) {
  for (const std::string& part : o.inputs) refuseSameFile(part, o.output);
  refuseSameFile(o.corpus, o.output);
  StoredCompilations stored = openStored(o.corpus);
  const size_t merged = mergeReplays(stored.path(), o.inputs, o.output);
  Corpus::append(o.output).pack();
  if (!o.quiet)
    fmt::print("{}: {} parts, {} compilations\n", o.output, o.inputs.size(),
               countText(static_cast<int64_t>(merged)));
  return kFine;
}

int replayDiff(const ReplayArguments& o) {
  if (o.runKernels && !o.trust && !o.inputs.empty()) {
    if (!o.commits.empty())
      throw Error(ErrorKind::Value, fmt::format("--run with --commits runs code of {} outside a sandbox: say "
                                                "--trust if you trust who made it",
                                                fmt::join(o.inputs, " and ")));
    continueInSandbox("--run", o.inputs, "the kernels that changed", o.output);
  }
  if (!o.commits.empty()) return diffCommits(o);
  if (o.inputs.empty()) throw Error(ErrorKind::Value, "give one or two corpora, or --commits A B");
  if (o.inputs.size() == 2) return report(o, o.inputs[0], o.inputs[1]);
  TemporaryFile now(".uopcorpus");
  replayTo(o.inputs[0], now.path(), o, false);
  Corpus::append(now.path())
      .setMeta("title",
               o.inputs[0] + (o.without.empty() ? std::string(" by this build")
                                                : fmt::format(" without {}", fmt::join(o.without, ", "))));
  if (*StopOnInterrupt::asked()) return kInterrupted;
  return report(o, o.inputs[0], now.path());
}

namespace {

/// Each result and the counts of each rule as a line of JSON, without times and without whatever else differs between
/// two runs of one build. Replays of one corpus that agree print the same bytes, however they were cut into parts.
void printResults(const Corpus& c) {
  for (const CorpusEntry& e : c.entries()) {
    auto hash = [](uint64_t h) { return fmt::format("{:016x}", h); };
    const nlohmann::ordered_json line = {{"kind", e.isKernel() ? "kernel" : "schedule"},
                                         {"input", hash(e.inputHash)},
                                         {"name", e.name},
                                         {"device", e.device},
                                         {"status", e.status},
                                         {"message", e.message},
                                         {"output", hash(e.outputHash)},
                                         {"story", hash(e.storyHash)},
                                         {"uses", e.uses},
                                         {"flops", e.flops},
                                         {"bytes", e.bytes},
                                         {"place", e.place()}};
    fmt::print("{}\n", jsonLine(line));
  }
  for (const auto& [place, n] : c.counts()) {
    const nlohmann::ordered_json line = {{"pass", place.pass},
                                         {"rule", place.rule},
                                         {"at", fmt::format("{}:{}", place.file, place.line)},
                                         {"attempts", n.count}};
    fmt::print("{}\n", jsonLine(line));
  }
}

} // namespace

int replayList(const ReplayArguments& o) {
  StoredCompilations stored = openStored(o.corpus);
  Corpus c = Corpus::open(stored.path());
  if (o.results) {
    printResults(c);
    return kFine;
  }
  Table table({"#", "kind", "name", "device", "state", "uses", "compile", "FLOPs", "bytes", "asked for by"});
  Json json = Json::array();
  auto number = [](int64_t n) { return n < 0 ? std::string("?") : countText(n); };
  for (const CorpusEntry& e : c.entries()) {
    std::string kind = e.isKernel() ? "kernel" : "schedule",
                all = e.name + " " + e.device + " " + e.status + " " + e.place();
    if (all.find(o.only) == std::string::npos) continue;
    if (o.json)
      json.push_back({{"number", e.id},
                      {"kind", kind},
                      {"name", e.name},
                      {"device", e.device},
                      {"status", e.status},
                      {"message", e.message},
                      {"uses", e.uses},
                      {"compile_ns", e.compileNs},
                      {"flops", e.flops},
                      {"bytes", e.bytes},
                      {"place", e.place()},
                      {"input", fmt::format("{:016x}", e.inputHash)}});
    else
      table.add({std::to_string(e.id), kind, e.name, e.device, e.status, countText(e.uses),
                 durationText(e.compileNs), e.isKernel() ? number(e.flops) : "",
                 e.isKernel() ? number(e.bytes) : "", e.place()});
  }
  if (o.json)
    printJson(json);
  else
    table.print();
  return kFine;
}

int replayShow(const ReplayArguments& o) {
  StoredCompilations stored = openStored(o.corpus);
  Corpus c = Corpus::open(stored.path());
  CorpusEntry e = findEntry(c, o.name);
  Compilation k = c.load(e, true);
  if (e.status != "ok") fmt::print(stderr, "uopscope: {}: {}: {}\n", e.name, e.status, e.message);
  if (o.what == "story") {
    Story story(std::move(k.story));
    int depth = 0;
    for (const StoryEvent& s : story.events()) {
      std::string indent(static_cast<size_t>(depth) * 2, ' ');
      if (s.kind == StoryEvent::PassBegin)
        fmt::print("{}{}\n", indent, story.word(s.word)), ++depth;
      else if (s.kind == StoryEvent::PassEnd)
        depth -= depth > 0;
      else if (s.kind == StoryEvent::Step)
        fmt::print("{}{}: {} -> {}\n", indent, story.word(s.word), story.expression(s.before, 4),
                   story.expression(s.after, 4));
      else
        fmt::print("{}{} failed on {}\n", indent, story.word(s.word), story.expression(s.before, 4));
    }
    return kFine;
  }
  const std::string* text = o.what == "ir"         ? &k.ir
                            : o.what == "asm"      ? &k.assembly
                            : o.what == "graph"    ? &k.graph
                            : o.what == "launch"   ? &k.launch
                            : o.what == "opts"     ? &k.opts
                            : o.what == "settings" ? &k.settings
                                                   : &k.source;
  if (text->empty()) {
    fmt::print(stderr, "uopscope: {} has no {} in {}{}\n", e.name, o.what, o.corpus,
               o.what == "asm" ? "; replay run --asm keeps it" : "");
    return kFailed;
  }
  fmt::print("{}{}", *text, text->ends_with('\n') ? "" : "\n");
  return kFine;
}

} // namespace uopscope::cli
