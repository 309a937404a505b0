// Captures real kernels, stores them, replays them in worker processes, and compares the results; also
// damaged files and kernels that break.
#include "engine/codegen/kernel_passes.h"
#include "engine/rules/user_rules.h"
#include "engine/runtime/device.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/tensor/tensor.h"
#include "replay/compare/kernel_run.h"
#include "replay/compare/merge_replays.h"
#include "replay/compare/recompile.h"
#include "replay/compare/replay.h"
#include "replay/compare/reproducer.h"
#include "replay/compare/story_view.h"
#include "tests/replay/compare/history.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// Captures what `work` compiles, from empty caches.
void captureTo(const std::string& path, const std::function<void()>& work) {
  Corpus corpus = Corpus::create(path);
  CaptureObserver observer([&](Compilation c) { return corpus.add(c); });
  {
    ObserverScope scope(&observer);
    clearKernelCache();
    clearScheduleCache();
    work();
  }
  corpus.addCounts(observer.tally().counts());
  corpus.finish();
}

struct Captured {
  Captured() {
    path = (std::filesystem::temp_directory_path() /
            ("uopscope-captured-" + std::to_string(getpid()) + ".uopcorpus"))
               .string();
    captureTo(path, [] {
      Tensor a = Tensor::arange(24).reshape({4, 6}).cast(dtypes::float32).contiguous().realize();
      Tensor b = (a * 2.0 + 1.0).sum(std::vector<int64_t>{1}).realize();
      Tensor d = a.matmul(a.transpose()).softmax().realize();
    });
  }
  ~Captured() { std::filesystem::remove(path); }
  std::string path;
};

std::string temporary(const char* name) {
  return (std::filesystem::temp_directory_path() /
          (std::string("uopscope-") + std::to_string(getpid()) + name))
      .string();
}

} // namespace

TEST_CASE("graphs as text come back as the same nodes") {
  Captured captured;
  Corpus corpus = Corpus::open(captured.path);
  for (const CorpusEntry& e : corpus.entries()) {
    Compilation c = corpus.load(e);
    Pool pool;
    PoolScope scope(pool);
    const std::string graph = c.graph.substr(0, c.graph.find("held\t"));
    CHECK(graphToText(graphFromText(c.graph)) == graph);
    Story story(c.story);
    CHECK(story.hash(story.root()) != 0);
    StoryGraph again;
    uint32_t root = again.add(story.build(story.root()));
    PackedStory packed = again.take();
    packed.root = root;
    Story rebuilt(std::move(packed));
    CHECK(rebuilt.hash(rebuilt.root()) == story.hash(story.root()));
  }
}

TEST_CASE("a replay by the same build tells the same story, with any number of workers") {
  Captured captured;
  for (int jobs : {1, 3}) {
    std::string result = temporary("-result.uopcorpus");
    ReplaySummary s = replayCorpus(captured.path, result, {.jobs = jobs});
    CHECK(s.failed + s.crashed + s.timedOut + s.left == 0);
    CHECK(s.ok >= 4);
    CorpusDiff d = diffCorpora(Corpus::open(captured.path), Corpus::open(result), {});
    CHECK_FALSE(d.anyChange());
    CHECK(d.otherWay == 0);
    std::filesystem::remove(result);
  }
}

TEST_CASE("a line of held nodes is checked as nodes are") {
  Pool pool;
  PoolScope scope(pool);
  const std::string graph =
      graphToText(UOp::constant(dtypes::int32, int64_t{3}) + UOp::constant(dtypes::int32, int64_t{4}));
  std::vector<UOp> held;
  graphFromText(graph + heldLine("[0,2]"), &held);
  CHECK(held.size() == 2);
  CHECK(graphFromText(graph + "held\t\n").is(Op::ADD));
  for (const char* damaged :
       {"held\t3", "held\t99999999999999999999999", "held\tx", "held\t-1", "held\t1\t7"})
    CHECK_THROWS_WITH_AS(graphFromText(graph + damaged), doctest::Contains("line 4 of a stored graph"),
                         Error);
  CHECK_THROWS_AS(graphFromText("held\t0"), Error);
}

TEST_CASE("a value that a tensor holds is stored as it is, in a replay too") {
  const std::string path = temporary("-held.uopcorpus"), result = temporary("-held-result.uopcorpus");
  captureTo(path, [] {
    for (bool holds : {true, false}) { // the same graph twice: two inputs, since their schedules differ
      const Tensor x = Tensor::empty({10, 59}, {.device = "NULL"});
      Tensor mean = x.mean(std::vector<int64_t>{1}, true);
      Tensor made = (x - mean).square().mean(std::vector<int64_t>{1});
      if (!holds) mean = x;
      made.realize();
    }
  });
  std::vector<size_t> held;
  {
    Corpus corpus = Corpus::open(path);
    for (const CorpusEntry& e : corpus.entries()) {
      if (e.isKernel()) continue;
      Pool pool;
      PoolScope scope(pool);
      std::vector<UOp> nodes;
      graphFromText(corpus.load(e).graph, &nodes);
      held.push_back(nodes.size());
    }
  }
  CHECK(held == std::vector<size_t>{2, 1}); // the mean and the result; the result
  replayCorpus(path, result, {.jobs = 1});
  CorpusDiff d = diffCorpora(Corpus::open(path), Corpus::open(result), {});
  CHECK_FALSE(d.anyChange());
  CHECK(d.otherWay == 0);
  CHECK(d.rules.empty());
  std::filesystem::remove(path), std::filesystem::remove(result);
}

TEST_CASE("an input that occurs twice is counted once, as a replay counts it") {
  const std::string path = temporary("-twice.uopcorpus"), result = temporary("-twice-result.uopcorpus");
  captureTo(path, [] {
    for (int k = 0; k < 3; ++k) {
      clearKernelCache();
      clearScheduleCache();
      (Tensor::empty({5, 3}, {.device = "NULL"}) * 2.0 + 1.0).contiguous().realize();
    }
  });
  replayCorpus(path, result, {.jobs = 1});
  CorpusDiff d = diffCorpora(Corpus::open(path), Corpus::open(result), {});
  CHECK_FALSE(d.anyChange());
  CHECK(d.rules.empty());
  std::filesystem::remove(path), std::filesystem::remove(result);
}

TEST_CASE("a rule to leave out has to exist") {
  Captured captured;
  const std::string result = temporary("-no-rule.uopcorpus");
  CHECK_THROWS_WITH_AS(replayCorpus(captured.path, result, {.without = {"mul-won"}}),
                       doctest::Contains("there is no rule \"mul-won\"; near it are"), Error);
  CHECK_FALSE(std::filesystem::exists(result));
  // Those of a GPU and of a spec exist, too, though nothing here has used them.
  CHECK_NOTHROW(requireRules(std::vector<std::string>{"product-on-tensor-core", "valid-constant"}));
}

TEST_CASE("an input that ends its worker costs no other input its result") {
  static enum { None, Dies, Hangs } what = None;
  PatNode root;
  root.ops.add(Op::MUL);
  auto trap = [](Match& m) -> UOp {
    const UOp by = m.root().src(1);
    if (by.is(Op::CONST) && by.dtype().isFloat() && by.arg().f() == 77.0) {
      if (what == Dies) raise(SIGKILL);
      if (what == Hangs) sleep(3600);
    }
    return m.decline("no trap");
  };
  const std::string path = temporary("-traps.uopcorpus"), result = temporary("-traps-result.uopcorpus");
  captureTo(path, [] {
    for (int k = 0; k < 24; ++k)
      (Tensor::empty({5 + k, 3}) * (k == 3 || k == 17 ? 77.0 : 2.0)).contiguous().realize();
  });
  const PatternMatcher traps(std::vector<std::shared_ptr<const Rule>>{std::make_shared<const Rule>(
      "trap", "mine.py", 3, "trap", std::vector{root}, std::vector<std::string>(), trap)});
  const UserRules added("initial symbolic", kernelPassNames(), traps);
  for (auto [kind, status] : {std::pair{Dies, "crashed"}, {Hangs, "timeout"}}) {
    what = kind;
    ReplaySummary s =
        replayCorpus(path, result, {.jobs = 2, .timeoutSeconds = 1, .kernelsOnly = true, .codeOnly = true});
    CHECK(s.ok == 22);
    CHECK(s.same == 22);
    CHECK((kind == Dies ? s.crashed : s.timedOut) == 2);
    CHECK(s.failed + s.left == 0);
    Corpus out = Corpus::open(result);
    for (const CorpusEntry& e : out.entries()) {
      INFO(e.name);
      CHECK(e.status == (out.load(e).graph.find("77.0") == std::string::npos ? "ok" : status));
    }
  }
  what = None;
  for (const std::string& file : {path, result}) std::filesystem::remove(file);
}

TEST_CASE("rules that a script added are replayed by their answers") {
  // A rule made at run time, as Python makes them: x*8 becomes x<<3. It counts its calls, so nothing but a call can be it.
  static int calls = 0;
  PatNode root;
  root.ops.add(Op::MUL);
  auto toShift = [](Match& m) -> UOp {
    ++calls;
    UOp product = m.root();
    if (!product.dtype().isInt() || !product.src(1).is(Op::CONST) || product.src(1).arg().i() != 8)
      return m.decline("not a product with 8");
    return product.src(0).alu(Op::SHL, {product.src(0).constLike(int64_t{3})});
  };
  auto captureWith = [&](const std::string& text) {
    const std::string path = temporary("-rules.uopcorpus");
    Corpus corpus = Corpus::create(path);
    CaptureObserver observer([&](Compilation c) { return corpus.add(c); });
    {
      const PatternMatcher mine(std::vector<std::shared_ptr<const Rule>>{std::make_shared<const Rule>(
          "eight-is-shift", "mine.py", 3, text, std::vector{root}, std::vector<std::string>(), toShift)});
      UserRules added("initial symbolic", kernelPassNames(), mine);
      ObserverScope scope(&observer);
      clearKernelCache();
      clearScheduleCache();
      Tensor a = (Tensor::arange(24).contiguous().realize() * 8 + 3).realize();
    }
    corpus.addCounts(observer.tally().counts());
    corpus.finish();
    return path;
  };
  const std::string path = captureWith("x*8 -> x<<3");
  const int asked = calls;
  CHECK(asked > 0);
  Corpus corpus = Corpus::open(path);
  int applied = 0;
  for (const CorpusEntry& e : corpus.entries()) {
    const Compilation c = corpus.load(e);
    CHECK(c.settings.find("[\"after initial symbolic\",\"eight-is-shift:") != std::string::npos);
    Story story(c.story);
    for (const StoryEvent& event : story.events())
      applied += event.kind == StoryEvent::Step && story.word(event.word) == "eight-is-shift";
  }
  CHECK(applied > 0);
  const std::string result = temporary("-rules-result.uopcorpus");
  for (bool codeOnly : {false, true}) {
    ReplaySummary s = replayCorpus(path, result, {.jobs = 1, .codeOnly = codeOnly});
    CHECK(s.ok == corpus.entries().size());
    CorpusDiff d = diffCorpora(corpus, Corpus::open(result), {});
    CHECK_FALSE(d.anyChange());
    CHECK(d.otherWay == 0);
    std::filesystem::remove(result);
  }
  CHECK(calls == asked); // no code of the script ran
  // The source of a rule belongs to the input: an edited rule makes another one.
  const uint64_t before = corpus.entries()[0].inputHash;
  CHECK(Corpus::open(captureWith("x*8 -> x<<4")).entries()[0].inputHash != before);
  std::filesystem::remove(path);
}

TEST_CASE("a rule left out shows as the cause") {
  Captured captured;
  std::string result = temporary("-without.uopcorpus");
  ReplayOptions options{.jobs = 1};
  options.without = {"mul-one"};
  replayCorpus(captured.path, result, options);
  CorpusDiff d = diffCorpora(Corpus::open(captured.path), Corpus::open(result), {});
  REQUIRE_FALSE(d.groups.empty());
  CHECK(d.groups[0].cause.find("mul-one") != std::string::npos);
  std::filesystem::remove(result);
}

TEST_CASE("one broken input never stops the rest") {
  Captured captured;
  std::string corpusPath = temporary("-broken.uopcorpus"), result = temporary("-broken-result.uopcorpus");
  {
    Corpus in = Corpus::open(captured.path), out = Corpus::create(corpusPath);
    Compilation bad;
    bad.name = "unknown_op", bad.device = "CPU", bad.settings = "{}",
    bad.graph = "FROBNICATE\tdtypes.void\t\t\n";
    out.add(bad);
    bad.name = "no_graph", bad.graph = "";
    out.add(bad);
    bad.name = "no_device", bad.graph = "SINK\tdtypes.void\tKernel('k';;0;[];-)\t\n", bad.device = "TOASTER";
    out.add(bad);
    for (const CorpusEntry& e : in.entries()) out.add(in.load(e));
    out.finish();
  }
  ReplaySummary s = replayCorpus(corpusPath, result, {.jobs = 2});
  CHECK(s.failed == 3);
  CHECK(s.ok == Corpus::open(captured.path).entries().size());
  CHECK(
      findEntry(Corpus::open(result), "unknown_op").message.find("this build has no operation FROBNICATE") !=
      std::string::npos);
  CHECK(findEntry(Corpus::open(result), "no_device").message.find("TOASTER") != std::string::npos);
  std::filesystem::remove(corpusPath);
  std::filesystem::remove(result);
}

TEST_CASE("a process that dies or does not end is told of") {
  CHECK(isolated([] { return std::string("fine"); }) == "fine");
  CHECK_THROWS_WITH(isolated([]() -> std::string { std::abort(); }), doctest::Contains("signal 6"));
  CHECK_THROWS_WITH(isolated(
                        []() -> std::string {
                          for (;;) usleep(1000);
                        },
                        1),
                    doctest::Contains("did not end within 1 s"));
}

TEST_CASE("kernels run on made-up data and agree with the reference interpreter") {
  Captured captured;
  Corpus corpus = Corpus::open(captured.path);
  for (const CorpusEntry& e : corpus.entries()) {
    if (!e.isKernel()) continue;
    Compilation c = corpus.load(e);
    KernelOutcome cpu = KernelRunner(c, {}).run();
    KernelOutcome ref = KernelRunner(c, {.device = "REF", .noopt = true}).run();
    CHECK_FALSE(isWrong(ref, cpu));
    KernelOutcome stored = KernelRunner(c, {}).run(c.ir.empty() ? c.source : c.ir, c.name, c.launch);
    CHECK(largestDifference(stored, cpu) == 0);
    CHECK(reproducerCpp(c, "a test").find("isWrong") != std::string::npos);
    CHECK(reproducerPython(c, "a test").find("custom_kernel") != std::string::npos);
  }
  KernelOutcome nothing;
  CHECK(largestDifference(nothing, nothing) == 0);
}

TEST_CASE("times are compared with their noise") {
  std::vector<double> a, b;
  std::mt19937 random(3);
  for (int i = 0; i < 40; ++i)
    a.push_back(1 + 0.1 * static_cast<double>(random() % 100) / 100),
        b.push_back(1 + 0.1 * static_cast<double>(random() % 100) / 100);
  CHECK_FALSE(compareTimes(a, b).differs());
  for (double& v : b) v *= 2;
  TimeComparison t = compareTimes(a, b);
  CHECK(t.differs());
  CHECK(t.ratio == doctest::Approx(2).epsilon(0.1));
}

TEST_CASE("files that are no corpus, newer or damaged are refused with a sentence") {
  std::string path = temporary("-bad.uopcorpus");
  CHECK_THROWS_WITH(Corpus::open(path), doctest::Contains("No such file"));
  std::ofstream(path) << "";
  CHECK_THROWS_WITH(Corpus::open(path), doctest::Contains("empty"));
  std::ofstream(path) << "hello, this is not a database at all, only some text that is long enough";
  CHECK_THROWS_AS(Corpus::open(path), Error);
  std::filesystem::remove(path);
  {
    Captured captured;
    std::filesystem::copy_file(captured.path, path);
  }
  {
    Database db = Database::openForWriting(path);
    db.execute("PRAGMA user_version = 99");
  }
  CHECK_THROWS_WITH(Corpus::open(path), doctest::Contains("newer uopscope"));
  {
    Database db = Database::openForWriting(path);
    db.execute("PRAGMA user_version = 1; UPDATE block SET data = x'00112233'");
  }
  Corpus damaged = Corpus::open(path);
  CHECK_THROWS_WITH(damaged.load(damaged.entries()[0]), doctest::Contains("damaged"));
  std::string whole;
  {
    std::ifstream in(path, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  std::ofstream(path, std::ios::binary) << whole.substr(0, whole.size() / 3);
  CHECK_THROWS_AS(Corpus::open(path).entries(), Error);
  std::filesystem::remove(path);
}

TEST_CASE("stories from anywhere never do more than fail") {
  Captured captured;
  Corpus corpus = Corpus::open(captured.path);
  std::mt19937 random(11);
  for (const CorpusEntry& e : corpus.entries())
    for (int i = 0; i < 60; ++i) {
      Compilation c = corpus.load(e);
      std::string& bytes = i % 2 ? c.story.nodes : c.story.events;
      if (bytes.empty()) continue;
      if (i % 3 == 0)
        bytes.resize(random() % bytes.size());
      else
        bytes[random() % bytes.size()] = static_cast<char>(random());
      try {
        Story story(std::move(c.story));
        for (const StoryEvent& event : story.events())
          if (event.before) story.expression(event.before, 3);
      } catch (const Error&) {
      }
    }
}

TEST_CASE("parts of a replay make the whole that one run makes") {
  Captured captured;
  const std::string one = temporary("-one.uopcorpus"), joined = temporary("-joined.uopcorpus");
  // Without a rule some results differ from the stored ones, so that both kinds of results are merged.
  const ReplayOptions options{.jobs = 1, .without = {"add-zero", "mul-one"}};
  replayCorpus(captured.path, one, options);
  const size_t inputs = Corpus::open(one).entries().size();
  for (const size_t parts : {size_t{1}, size_t{2}, size_t{3}, inputs + 2}) {
    CAPTURE(parts);
    std::vector<std::string> files;
    for (size_t i = 0; i < parts; ++i) {
      files.push_back(temporary(("-part" + std::to_string(i) + ".uopcorpus").c_str()));
      ReplayOptions mine = options;
      mine.wants = [&](size_t input) { return input % parts == i; };
      replayCorpus(captured.path, files.back(), mine);
    }
    CHECK(mergeReplays(captured.path, files, joined) == inputs);
    Corpus a = Corpus::open(one), b = Corpus::open(joined);
    const auto x = a.entries(), y = b.entries();
    REQUIRE(x.size() == y.size());
    for (size_t i = 0; i < x.size(); ++i) {
      CHECK(x[i].inputHash == y[i].inputHash);
      CHECK(x[i].outputHash == y[i].outputHash);
      CHECK(x[i].storyHash == y[i].storyHash);
      CHECK(x[i].uses == y[i].uses);
      CHECK(a.load(x[i]).source == b.load(y[i]).source);
    }
    const RuleCounts left = a.counts(), right = b.counts();
    REQUIRE(left.size() == right.size());
    for (const auto& [place, n] : left) CHECK(std::ranges::equal(n.count, right.at(place).count));

    if (parts > 1) {
      std::vector<std::string> fewer(files.begin() + 1, files.end()), twice = files;
      twice.push_back(files[0]);
      CHECK_THROWS_WITH_AS(mergeReplays(captured.path, fewer, joined), doctest::Contains("in no part"),
                           Error);
      CHECK_THROWS_WITH_AS(mergeReplays(captured.path, twice, joined), doctest::Contains("different part"),
                           Error);
    }
    for (const std::string& file : files) std::filesystem::remove(file);
  }
  for (const std::string& file : {one, joined}) std::filesystem::remove(file);
}
