// A trace stores the same data of a compilation as a capture of the same run: the same inputs, the same
// stories, the same texts.
#include "engine/base/context_var.h"
#include "engine/runtime/device.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/tensor/tensor.h"
#include "replay/compare/difference.h"
#include "replay/compare/stored_compilations.h"
#include "replay/compare/story_view.h"
#include "replay/record/tee.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>

using namespace uopscope;
using namespace uopscope::test;

namespace {

void compileSome() {
  clearKernelCache();
  clearScheduleCache();
  Tensor a = Tensor::arange(24).reshape({4, 6}).cast(dtypes::float32).contiguous().realize();
  Tensor b = (a * 2.0 + 1.0).sum(std::vector<int64_t>{1}).realize();
  ContextScope plain({{"NOOPT", 1}}); // kernels of one run have different settings
  Tensor c = a.matmul(a.transpose()).softmax().realize();
}

/// Events, one per line, with nodes by content.
std::string told(const Compilation& c) {
  Story story(c.story);
  std::string out;
  auto node = [&](uint32_t n) { return n ? fmt::format("{:x}", story.hash(n)) : std::string("none"); };
  for (const StoryEvent& e : story.events())
    out +=
        fmt::format("{} {} {} {}\n", static_cast<int>(e.kind),
                    e.kind == StoryEvent::PassEnd ? "" : story.word(e.word), node(e.before), node(e.after));
  return out;
}

/// Records and captures one run.
struct Both {
  Both() {
    Recorder recorder({.path = trace.path, .tier = Tier::Full});
    Corpus out = Corpus::create(corpus.path());
    CaptureObserver capture([&](Compilation c) { return out.add(c); });
    Tee tee(&recorder, &capture);
    {
      ObserverScope scope(&tee);
      compileSome();
    }
    recorder.finish();
    out.addCounts(capture.tally().counts());
    out.finish();
  }
  TempTrace trace;
  TemporaryFile corpus{".uopcorpus"};
};

} // namespace

TEST_CASE("a trace read as a corpus is the corpus of the same run") {
  Both run;
  StoredCompilations stored(run.trace.path);
  CHECK(stored.warning() == "");
  Corpus fromTrace = Corpus::open(stored.path()), captured = Corpus::open(run.corpus.path());
  auto a = fromTrace.entries(), b = captured.entries();
  REQUIRE(a.size() == b.size());
  REQUIRE(a.size() > 4);
  bool plain = false;
  for (size_t i = 0; i < a.size(); ++i) {
    CAPTURE(b[i].name);
    Compilation x = fromTrace.load(a[i], true), y = captured.load(b[i], true);
    CHECK(x.graph == y.graph);
    CHECK(x.settings == y.settings);
    CHECK(x.device == y.device);
    CHECK(x.name == y.name);
    CHECK(x.source == y.source);
    CHECK(x.ir == y.ir);
    CHECK(x.launch == y.launch);
    CHECK(x.opts == y.opts);
    CHECK(x.flops == y.flops);
    CHECK(told(x) == told(y));
    plain = plain || x.settings.find("\"NOOPT\":1") != std::string::npos;
  }
  CHECK(plain);
  CHECK(!diffCorpora(fromTrace, captured, {}).anyChange());
  RuleCounts first = fromTrace.counts(), second = captured.counts();
  uint64_t applied[2] = {};
  for (const auto& [place, count] : first) applied[0] += count.count[int(Outcome::Applied)];
  for (const auto& [place, count] : second) applied[1] += count.count[int(Outcome::Applied)];
  CHECK(applied[0] == applied[1]);
}

TEST_CASE("what is neither a corpus nor a trace is refused, and a trace without rewrites says so") {
  CHECK_THROWS_WITH_AS(StoredCompilations("/nowhere/at/all.uoptrace"), doctest::Contains("/nowhere/at/all"),
                       Error);
  TemporaryFile text(".uoptrace");
  std::ofstream(text.path()) << "no database\n";
  CHECK_THROWS_AS(StoredCompilations(text.path()), Error);

  TempTrace trace;
  recordTo(trace.path, compileSome, Tier::Stats);
  StoredCompilations stored(trace.path);
  CHECK(stored.warning().find("without its rewrites") != std::string::npos);
}

TEST_CASE("passes that are said to run in each other, or in themselves, are refused") {
  for (const char* sql : {"UPDATE pass SET parent = id, parent_steps = 0",
                          "UPDATE pass SET parent = id + 1, parent_steps = 0 WHERE id % 2"}) {
    CAPTURE(sql);
    TempTrace file;
    recordTo(file.path, compileSome);
    Database::openForWriting(file.path).execute(sql);
    CHECK_THROWS_AS(StoredCompilations(file.path), Error);
  }
}
