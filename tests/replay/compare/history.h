// A small history of rule changes, to compare the results of two "commits" of a compiler on the same inputs.
// Each commit is a set of rules and a heuristic between two passes.
//
//   TempCorpus before(compileAll(commits::first())), after(compileAll(commits::ruleOff()));
#pragma once
#include "engine/uop/print.h"
#include "replay/compare/difference.h"
#include "replay/compare/story_view.h"
#include "tests/replay/support.h"

namespace uopscope::test {

struct Commit {
  PatternMatcher first, second;
  bool unroll = false; ///< the heuristic: doubles the graph between the passes
};

namespace commits {
inline UOp twice(Match& m) {
  return m[x] * 2;
}
inline UOp wrongTwice(Match& m) {
  return m[x] * 3;
}
inline UOp sumOf(Match& m) {
  return UOp::index(m[c0].arg().i() + m[c1].arg().i());
}
inline constexpr RuleDef kZero = RULE("add-zero", x + 0, x);
inline constexpr RuleDef kOne = RULE("mul-one", x * 1, x);
inline constexpr RuleDef kOneAgain = RULE("times-one", x * 1, x);
inline constexpr RuleDef kTwice = RULE("twice", x + x, twice);
inline constexpr RuleDef kWrongTwice = RULE("twice", x + x, wrongTwice);
inline constexpr RuleDef kFold = RULE("fold", c0 + c1, sumOf);
inline constexpr RuleDef kAlike =
    RULE("alike", c0 + c0, [](Match& m) { return UOp::index(m[c0].arg().i() * 2); });

inline constexpr RuleDef kFirst[] = {kZero, kOne, kFold, kTwice};
inline constexpr RuleDef kOff[] = {kZero, kFold, kTwice};
inline constexpr RuleDef kWrong[] = {kZero, kOne, kFold, kWrongTwice};
inline constexpr RuleDef kRenamed[] = {kZero, kOneAgain, kFold, kTwice};
inline constexpr RuleDef kMore[] = {kZero, kOne, kFold, kTwice, kAlike};
inline constexpr RuleDef kReordered[] = {kZero, kOne, kTwice, kFold};
inline constexpr RuleDef kRefactored[] = {kOne, kZero, kFold, kTwice}; // no two of them compete
inline constexpr RuleDef kSecond[] = {
    RULE("negate", pat::op(Op::MAX, x, y), [](Match& m) { return m[x] + m[y] * -1; })};

inline Commit of(std::span<const RuleDef> rules, bool unroll = false) {
  return {PatternMatcher({rules}), PatternMatcher({kSecond}), unroll};
}
} // namespace commits

/// Graphs of the index type; "mul-one" has no match in every third, "twice" none in every second.
inline std::vector<Compilation> historyInputs(int count = 12) {
  std::vector<Compilation> inputs;
  for (int i = 0; i < count; ++i) {
    Pool pool;
    PoolScope scope(pool);
    UOp r = UOp::range(16 + i, 0), s = UOp::range(4, 1);
    UOp a = i % 3 ? (r + i % 7) * 1 : r + s, b = i % 2 ? s + s : s * 5;
    UOp sum = UOp::index(i + 2) + UOp::index(i + 2);
    Compilation& c = inputs.emplace_back();
    c.graph = graphToText(UOp::sink(std::vector<UOp>{(a + 0).alu(Op::MAX, {b}) + sum}));
    c.device = "CPU";
    c.settings = "{}";
    c.file = "model.py";
    c.line = 10 + i;
    c.name = "k" + std::to_string(i);
  }
  return inputs;
}

inline Compilation compileAs(const Commit& commit, const Compilation& input, RuleCounts* counts = nullptr,
                             Observer* gate = nullptr) {
  Compilation made;
  struct Gated : CaptureObserver {
    using CaptureObserver::CaptureObserver;
    Control onRewrite(const RewriteEvent& e) override {
      if (gate && gate->onRewrite(e) == Control::Skip) return Control::Skip;
      return CaptureObserver::onRewrite(e);
    }
    Observer* gate = nullptr;
  } observer([&](Compilation c) {
    made = std::move(c);
    return true;
  });
  observer.gate = gate;
  {
    ObserverScope observed(&observer);
    Pool pool;
    PoolScope scope(pool);
    UOp root = graphFromText(input.graph);
    ObservedScope kernel({ScopeKind::Kernel, input.name, {input.file, input.line}, root});
    root = graphRewrite(root, commit.first, {.name = "initial symbolic"});
    if (commit.unroll) root = UOp::sink(std::vector<UOp>{root.src(0) * 7});
    root = graphRewrite(root, commit.second, {.name = "devectorize"});
    observer.onArtifact({"source", expression(root.src(0), 50, 10000)});
    observer.onArtifact({"launch", "{}"});
  }
  made.graph = input.graph, made.device = input.device, made.settings = input.settings,
  made.name = input.name;
  if (counts)
    for (const auto& [place, n] : observer.tally().counts()) {
      RuleCount& total = (*counts)[place];
      for (int i = 0; i < kOutcomeCount; ++i) total.count[i] += n.count[i];
      total.ns += n.ns;
    }
  return made;
}

struct TempCorpus {
  explicit TempCorpus(const Commit& commit, int count = 12, const std::string& settings = "{}") {
    static int number = 0;
    path = (std::filesystem::temp_directory_path() /
            ("uopscope-corpus-" + std::to_string(getpid()) + "-" + std::to_string(++number) + ".uopcorpus"))
               .string();
    Corpus c = Corpus::create(path);
    RuleCounts counts;
    for (std::vector<Compilation> inputs = historyInputs(count); Compilation & input : inputs) {
      input.settings = settings;
      c.add(compileAs(commit, input, &counts));
    }
    c.addCounts(counts);
    c.finish();
  }
  ~TempCorpus() { std::filesystem::remove(path); }
  TempCorpus(const TempCorpus&) = delete;
  TempCorpus& operator=(const TempCorpus&) = delete;
  std::string path;
};

inline CorpusDiff diffOf(const TempCorpus& a, const TempCorpus& b, const DiffOptions& options = {}) {
  return diffCorpora(Corpus::open(a.path), Corpus::open(b.path), options);
}

} // namespace uopscope::test
