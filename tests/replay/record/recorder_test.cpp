// A recording is the same at any time and with any number of threads, survives the end of its process in any
// way, and holds all that the observer was told.
#include "replay/read/trace.h"
#include "replay/record/recorder.h"
#include "replay/schema/schema.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// All data of a trace except times, as text.
std::string contents(const std::string& path) {
  Database db = openTrace(path);
  std::string out;
  std::vector<std::string> tables;
  for (Statement s = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
       s.step();)
    tables.emplace_back(s.text(0));
  for (const std::string& table : tables) {
    if (table.starts_with("sqlite_") || table == "packed_time") continue;
    Statement s =
        db.prepare("SELECT * FROM " + table + (table == "meta" ? " WHERE key NOT LIKE 'time.%'" : ""));
    while (s.step()) {
      out += table;
      for (int c = 0; c < s.columns(); ++c) {
        if (s.columnName(c).ends_with("_ns")) continue;
        out += "|";
        if (s.type(c) == Statement::Type::Blob)
          for (uint8_t b : s.blob(c)) out += std::to_string(b) + ".";
        else
          out += s.text(c);
      }
      out += "\n";
    }
  }
  return out;
}

void compileAll() {
  for (uint32_t seed = 1; seed <= 6; ++seed) compileKernel(seed, 120);
}

} // namespace

TEST_CASE("two recordings are equal but for times") {
  TempTrace a, b;
  recordTo(a.path, compileAll);
  recordTo(b.path, compileAll);
  std::string first = contents(a.path);
  CHECK(first.size() > 10000);
  CHECK(first == contents(b.path));
}

TEST_CASE("a recording does not depend on the number of threads") {
  TempTrace one, many;
  auto work = [](int threads) {
    Observer* o = Observer::current();
    std::vector<std::unique_ptr<Observer>> forks;
    for (uint64_t k = 0; k < 8; ++k) forks.push_back(o->fork(k));
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        for (size_t k = static_cast<size_t>(t); k < forks.size(); k += static_cast<size_t>(threads)) {
          ObserverScope scope(forks[k].get());
          compileKernel(static_cast<uint32_t>(k), 80);
        }
      });
    for (auto& thread : running) thread.join();
    // Children may be joined in any order.
    std::reverse(forks.begin(), forks.end());
    for (auto& fork : forks) o->join(std::move(fork));
  };
  recordTo(one.path, [&] { work(1); });
  recordTo(many.path, [&] { work(4); });
  CHECK(contents(one.path) == contents(many.path));
  CHECK(Trace(many.path).scopes().size() == 8);
}

TEST_CASE("pools that the engine is done with live until they are written, on this thread and in forks") {
  TempTrace waiting, kept, forked;
  std::vector<std::weak_ptr<Pool>> pools;
  auto handedOver = [&](uint32_t seed) {
    auto pool = std::make_shared<Pool>();
    pools.emplace_back(pool);
    compileKernel(seed, 120, *pool);
    Observer::current()->poolDone(std::move(pool));
  };
  recordTo(waiting.path, compileAll);
  recordTo(kept.path, [&] {
    for (uint32_t seed = 1; seed <= 6; ++seed) handedOver(seed);
  });
  recordTo(forked.path, [&] {
    Observer* o = Observer::current();
    std::vector<std::unique_ptr<Observer>> forks;
    for (uint64_t k = 0; k < 6; ++k) forks.push_back(o->fork(k));
    for (uint32_t k = 0; k < 6; ++k) {
      {
        ObserverScope scope(forks[k].get());
        handedOver(k + 1);
      }
      o->join(std::move(forks[k]));
    }
  });
  CHECK(contents(kept.path) == contents(waiting.path));
  CHECK(contents(forked.path) == contents(waiting.path));
  CHECK(pools.size() == 12);
  for (const auto& pool : pools) CHECK(pool.expired());
}

TEST_CASE("what the observer was told is in the trace") {
  TempTrace file;
  recordTo(file.path, [] { compileKernel(3, 100); });
  CHECK(!std::filesystem::exists(file.path + "-wal"));
  Trace trace(file.path);
  CHECK(trace.status() == "complete");
  CHECK(trace.warning().empty());
  REQUIRE(trace.scopes().size() == 1);
  const ScopeInfo& kernel = trace.scopes()[0];
  CHECK(kernel.name == "kernel 3");
  CHECK(kernel.script.file == "model.py");
  CHECK(kernel.script.line == 3);
  CHECK(kernel.endNs.has_value());
  CHECK(trace.artifact(1, "source") == "void k() {}");
  REQUIRE(trace.launches().size() == 1);
  CHECK(trace.launches()[0].flops == 1000);
  const auto& passes = trace.passes(1);
  REQUIRE(passes.size() >= 2);
  CHECK(passes[0].name == "lower");
  CHECK(passes[0].at.file.ends_with("replay/support.h"));
  int64_t steps = 0;
  for (const PassInfo& p : passes) {
    steps += p.steps;
    CHECK(p.outcome == PassOutcome::Done);
    CHECK(static_cast<int64_t>(trace.steps(p.id).size()) == p.steps);
    if (p.depth) CHECK(p.parentSteps >= 0);
  }
  CHECK(kernel.steps == steps);
  // The counts of applied attempts equal the number of steps.
  uint64_t applied = 0;
  for (const MatchTotals& t : trace.matchTotals(MatchGroup::Rule)) applied += t.count[int(Outcome::Applied)];
  CHECK(applied == static_cast<uint64_t>(steps));
  bool found = false;
  for (const RuleInfo& r : trace.rules())
    if (r.name == "max-to-sub") {
      found = true;
      CHECK(r.at.file.ends_with("support.h"));
      CHECK(r.text.find("MAX") != std::string::npos);
    }
  CHECK(found);
}

TEST_CASE("tier stats keeps counts and no steps") {
  TempTrace full, stats;
  recordTo(full.path, compileAll);
  recordTo(stats.path, compileAll, Tier::Stats);
  Trace a(full.path), b(stats.path);
  auto sum = [](Trace& t) {
    uint64_t n = 0;
    for (const MatchTotals& m : t.matchTotals(MatchGroup::Everything)) n += m.attempts();
    return n;
  };
  CHECK(sum(a) == sum(b));
  CHECK(sum(a) > 100);
  Statement s = b.database().prepare("SELECT count(*) FROM step");
  REQUIRE(s.step());
  CHECK(s.integer(0) == 0);
  CHECK(b.passes(1).size() >= 2);
}

TEST_CASE("a rule that throws leaves a step that says so") {
  static constexpr RuleDef kBad[] = {RULE("bad", pat::op(Op::MAX, x, y), [](Match&) -> UOp {
    throw Error(ErrorKind::Value, "cannot lower this MAX");
  })};
  TempTrace file;
  recordTo(file.path, [] {
    Pool pool;
    PoolScope scope(pool);
    UOp sinks[] = {UOp::range(3, 0).alu(Op::MAX, {UOp::range(4, 1)}) + 0};
    PatternMatcher bad({kBad});
    CHECK_THROWS_AS(graphRewrite(UOp::sink(sinks), bad, {.name = "fails"}), Error);
    Observer::current()->poolRetired(pool);
  });
  Trace trace(file.path);
  PassInfo pass = trace.passes(0).at(0);
  CHECK(pass.outcome == PassOutcome::Failed);
  CHECK(pass.message.find("cannot lower this MAX") != std::string::npos);
  auto steps = trace.steps(pass.id);
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].kind == StepKind::RewriteError);
  CHECK(steps[0].after == kNoNode);
  CHECK(trace.stepMessage(steps[0].id) == "cannot lower this MAX");
  Cursor cursor(trace, pass.id);
  CHECK(cursor.rootAt(1) == pass.root);
}

TEST_CASE("asked to stop, the next rewrite ends the pass") {
  TempTrace file;
  RecordingProgress progress;
  Recorder recorder({.path = file.path, .progress = &progress});
  ObserverScope scope(&recorder);
  progress.stop = true;
  CHECK_THROWS_WITH_AS(compileKernel(1, 50), "interrupted", Error);
}

TEST_CASE("asked to stop, tier stats ends as well") {
  TempTrace file;
  RecordingProgress progress;
  Recorder recorder({.path = file.path, .tier = Tier::Stats, .progress = &progress});
  ObserverScope scope(&recorder);
  compileKernel(1, 50);
  progress.stop = true;
  CHECK_THROWS_WITH_AS(compileKernel(2, 50), "interrupted", Error);
}

TEST_CASE("killed at any moment, the trace opens and holds what was committed") {
  const char* more = std::getenv("UOPSCOPE_FUZZ");
  std::mt19937 random(more ? static_cast<uint32_t>(std::atoi(more)) : 7);
  size_t opened = 0, rounds = more ? 300 : 25;
  for (size_t round = 0; round < rounds; ++round) {
    auto microseconds = static_cast<int64_t>(random() % 200'000);
    CAPTURE(microseconds);
    TempTrace file;
    pid_t child = fork();
    if (child == 0) {
      Recorder recorder({.path = file.path});
      ObserverScope scope(&recorder);
      for (uint32_t seed = 0;; ++seed) compileKernel(seed, 100);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    if (!std::filesystem::exists(file.path)) continue;
    try {
      Trace trace(file.path);
      CHECK(!trace.finished());
      CHECK(!trace.warning().empty());
      for (const ScopeInfo& s : trace.scopes())
        for (const PassInfo& p : std::vector<PassInfo>(trace.passes(s.id))) {
          Cursor cursor(trace, p.id);
          NodeId root = cursor.rootAt(cursor.steps());
          if (p.endRoot) CHECK(root == p.endRoot);
        }
      opened += !trace.scopes().empty();
    } catch (const Error& e) {
      // Before the first commit the file is no trace yet; that case has its own message.
      CHECK(std::string(e.what()).find(file.path) != std::string::npos);
    }
  }
  CHECK(opened > 0);
}

// The thread sanitizer takes a thread of the child for one of its parent's, which has the same address.
#ifdef __SANITIZE_THREAD__
constexpr bool kNoThreadsOfChildren = true;
#else
constexpr bool kNoThreadsOfChildren = false;
#endif

TEST_CASE("a child forked while the writer writes can record" * doctest::skip(kNoThreadsOfChildren)) {
  TempTrace file;
  Recorder recorder({.path = file.path});
  Pool pool;
  PoolScope inPool(pool);
  for (uint32_t round = 0; round < 60; ++round) {
    {
      ObserverScope scope(&recorder);
      ObservedScope kernel({ScopeKind::Kernel, "kernel " + std::to_string(round), {}, {}});
      graphRewriteBottomUp(randomGraph(round, 150), lowering(), {.name = "lower"});
    } // the writer has work now
    const pid_t child = fork();
    if (child == 0) {
      alarm(60); // a child that waits for a lock of its parent's threads dies of it
      {
        TempTrace own;
        Recorder mine({.path = own.path});
        ObserverScope scope(&mine);
        compileKernel(round, 20);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(status == 0);
  }
  Observer* o = &recorder;
  o->poolRetired(pool);
  recorder.finish();
  CHECK(Trace(file.path).scopes().size() == 60);
}

TEST_CASE("several readers while one writes") {
  TempTrace file;
  Recorder recorder({.path = file.path});
  ObserverScope scope(&recorder);
  compileKernel(0, 50);
  recorder.flush();
  std::atomic<bool> done{false};
  std::atomic<int> looked{0}, wrong{0};
  std::vector<std::thread> readers;
  for (int k = 0; k < 3; ++k)
    readers.emplace_back([&] {
      Trace trace(file.path);
      while (!done) {
        trace.refresh();
        for (const ScopeInfo& s : std::vector<ScopeInfo>(trace.scopes()))
          for (const PassInfo& p : std::vector<PassInfo>(trace.passes(s.id)))
            if (p.endRoot && Cursor(trace, p.id).rootAt(p.steps) != p.endRoot) ++wrong;
        ++looked;
      }
    });
  for (uint32_t seed = 1; seed < 40; ++seed) {
    compileKernel(seed, 60);
    recorder.flush();
  }
  done = true;
  for (std::thread& t : readers) t.join();
  CHECK(looked >= 3);
  CHECK(wrong == 0);
  recorder.finish();
}

TEST_CASE("a reader that followed a recording puts its journal away") {
  TempTrace file;
  auto recorder = std::make_unique<Recorder>(RecorderOptions{.path = file.path});
  {
    ObserverScope scope(recorder.get());
    compileKernel(1, 50);
    recorder->flush();
  }
  {
    Trace trace(file.path);
    CHECK(trace.scopes().size() == 1);
    recorder->finish();
    trace.refresh();
    CHECK(trace.finished());
  }
  CHECK_FALSE(std::filesystem::exists(file.path + "-wal"));
  CHECK(Trace(file.path).scopes().size() == 1);
}

namespace {

/// Records in a process whose files end at `most` bytes: 7 where the recording stopped and the compilations went on.
int recordOnFullDisk(const std::string& path, rlim_t most) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{most, most};
    setrlimit(RLIMIT_FSIZE, &limit);
    (void)!freopen("/dev/null", "w", stderr);
    Recorder recorder({.path = path});
    ObserverScope scope(&recorder);
    for (uint32_t seed = 0; seed < 300; ++seed) compileKernel(seed, 200);
    recorder.finish();
    _exit(recorder.failure().empty() ? 3 : 7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

TEST_CASE("a disk without room for the tables stops the recording, not the script") {
  TempTrace file;
  CHECK(recordOnFullDisk(file.path, 4 << 10) == 7);
  CHECK_THROWS_AS(Trace(file.path), Error);
}

TEST_CASE("a full disk stops the recording, not the script") {
  TempTrace file;
  REQUIRE(recordOnFullDisk(file.path, 400 << 10) == 7);
  Trace trace(file.path);
  CHECK(!trace.warning().empty());
  for (const ScopeInfo& s : trace.scopes())
    for (const PassInfo& p : std::vector<PassInfo>(trace.passes(s.id)))
      CHECK(Cursor(trace, p.id).rootAt(0) == p.root);
}

TEST_CASE("a reader follows a growing trace") {
  TempTrace file;
  Recorder recorder({.path = file.path});
  ObserverScope scope(&recorder);
  compileKernel(1, 50);
  recorder.flush();
  Trace trace(file.path);
  CHECK(!trace.finished());
  CHECK(trace.scopes().size() == 1);
  CHECK(!trace.refresh());
  compileKernel(2, 50);
  recorder.flush();
  CHECK(trace.refresh());
  REQUIRE(trace.scopes().size() == 2);
  for (const PassInfo& p : std::vector<PassInfo>(trace.passes(2)))
    CHECK(Cursor(trace, p.id).rootAt(p.steps) == p.endRoot);
  recorder.finish();
  trace.refresh();
  CHECK(trace.finished());
}
