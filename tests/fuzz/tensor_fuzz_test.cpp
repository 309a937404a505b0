// Random tensor programs on CPU (through LLVM and through clang) against the reference interpreter: all
// types, awkward shapes (0, 1, odd, huge, symbolic), views, reductions, products, indices, several outputs,
// effects, gradients, several devices, kernels by hand; random Opts, rules switched off. A failure is minimised and printed with the command that runs it again.
//   UOPSCOPE_FUZZ=5000 build/fuzz_tests                      more programs
//   UOPSCOPE_FUZZ_SEED=17 build/fuzz_tests                   start with this program
//   UOPSCOPE_FUZZ_PROGRAM='leaf 2 7|unary' build/fuzz_tests  runs a program as printed
//   UOPSCOPE_FUZZ_DEVICE=WEBGPU build/fuzz_tests             compares a different device than CPU with REF
#include "engine/base/context_var.h"
#include "engine/base/engine_session.h"
#include "tests/fuzz/run_program.h"
#include "tests/fuzz/variation.h"

#include <doctest/doctest.h>

#include <iostream>

using namespace uopscope;
using namespace uopscope::fuzz;

namespace {

/// The last values of a program as numbers; empty where the program has none.
struct ProgramOutcome {
  struct One {
    std::vector<double> values;
    Precision precision;
    std::string text;
  };
  std::vector<One> last;
  size_t made = 0;
};
constexpr size_t kTogether = 3;

ProgramOutcome outcomeOf(const fuzz::Program& p, const char* device, const Variation* variation) {
  const std::deque<Value> values = runProgram(p, device);
  ProgramOutcome outcome;
  outcome.made = values.size();
  const size_t first = values.size() - std::min(values.size(), kTogether);
  std::vector<Tensor> outputs;
  for (size_t i = first; i < values.size(); ++i) outputs.push_back(values[i].tensor);
  if (outputs.empty()) return outcome;
  if (variation)
    variation->realize(outputs);
  else
    Tensor::realize(outputs);
  for (size_t i = first; i < values.size(); ++i)
    outcome.last.push_back({values[i].tensor.doubles(), values[i].precision, values[i].text});
  return outcome;
}

/// Empty where the values agree; else the first difference.
std::string compare(const ProgramOutcome::One& cpu, const ProgramOutcome::One& reference) {
  const std::vector<double>&x = cpu.values, &y = reference.values;
  if (x.size() != y.size()) return fmt::format("{} values against {}", x.size(), y.size());
  double tolerance = cpu.precision.exact() ? 0 : std::exp2(cpu.precision.err + 4);
  for (size_t i = 0; i < x.size(); ++i) {
    if ((std::isnan(x[i]) && std::isnan(y[i])) || x[i] == y[i] || std::abs(x[i] - y[i]) <= tolerance)
      continue;
    return fmt::format("element {}: {} {} and REF {}, {} apart, allowed {}\n  {}", i, deviceUnderTest(), x[i],
                       y[i], x[i] - y[i], tolerance, cpu.text);
  }
  return {};
}

/// The values on the device under test, compiled as the variation says. Without some rules a kernel may be refused; nothing is
/// returned then.
std::optional<ProgramOutcome> onCpu(const fuzz::Program& p, const Variation& variation) {
  std::unique_ptr<EngineSession> own;
  std::optional<EngineSessionScope> in;
  if (variation.wantsSession()) in.emplace(*(own = std::make_unique<EngineSession>()));
  ContextScope settings(variation.settings);
  try {
    return outcomeOf(p, deviceUnderTest().c_str(), &variation);
  } catch (const Error&) {
    if (!variation.rulesOff) throw;
    return std::nullopt;
  }
}

struct Tally {
  int programs = 0, withoutRules = 0, refused = 0;
};

/// The difference that a program shows, empty for none. The last values are realized together.
std::string failureOf(const fuzz::Program& p, const Variation& variation, Tally* tally = nullptr) {
  try {
    ProgramOutcome reference;
    {
      ContextScope settings(variation.settings);
      reference = outcomeOf(p, "REF", nullptr);
    }
    const std::optional<ProgramOutcome> cpu = onCpu(p, variation);
    if (tally) ++tally->programs, tally->withoutRules += variation.rulesOff, tally->refused += !cpu;
    if (!cpu) return {};
    if (cpu->made != reference.made) return "CPU and REF build different graphs";
    for (size_t i = 0; i < cpu->last.size(); ++i)
      if (std::string failure = compare(cpu->last[i], reference.last[i]); !failure.empty()) return failure;
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

std::string reproducer(const fuzz::Program& p, uint64_t seed) {
  std::string text = fmt::format("\n  UOPSCOPE_FUZZ_SEED={} UOPSCOPE_FUZZ_PROGRAM='{}'", seed, p.text());
  try {
    for (const Value& v : runProgram(p, "REF")) text += "\n  " + v.text;
  } catch (const Error&) {
    text += "\n  (the last step cannot be built)";
  }
  return text;
}

} // namespace

TEST_CASE("random tensor programs give the same on CPU and REF") {
  int64_t count = envInt("UOPSCOPE_FUZZ", 5000), first = envInt("UOPSCOPE_FUZZ_SEED", 0);
  bool trace = envInt("UOPSCOPE_FUZZ_TRACE", 0) != 0;
  const char* given = std::getenv("UOPSCOPE_FUZZ_PROGRAM");
  if (given) count = 1;
  int wrong = 0;
  Tally tally;
  for (int64_t i = first; i < first + count && wrong < 8; ++i) {
    const auto seed = static_cast<uint64_t>(i);
    const Variation variation = variationOf(seed);
    fuzz::Program p = given ? parseProgram(given) : randomProgram(seed);
    if (trace) std::cerr << "seed " << seed << ": " << reproducer(p, seed) << std::endl;
    if (failureOf(p, variation, &tally).empty()) continue;
    ++wrong;
    fuzz::Program least = given ? p : minimised(p, [&](const fuzz::Program& smaller) {
      return !failureOf(smaller, variation).empty();
    });
    variation.met->rules.clear();
    const std::string failure = failureOf(least, variation);
    FAIL_CHECK(
        fmt::format("seed {} with {}: {}{}", seed, variation.text(), failure, reproducer(least, seed)));
  }
  CHECK(wrong == 0);
  CHECK(tally.refused * 10 <= tally.withoutRules); // a rule left out costs a refusal at most now and then
  MESSAGE(tally.programs << " programs, " << tally.withoutRules << " without some rules, " << tally.refused
                         << " of them refused");
}

TEST_CASE("programs that failed once") {
  constexpr const char* kPrograms[] = {
      "leaf 0 0 64383 19|movement 0 24 34540 31", // every second element, backwards, of an empty axis
      "leaf 0 0 36329 19|effect 0 16",            // assignment to a part of an empty tensor
      "leaf 0 0 1 1|effect 0 18045|symbolic 61|effect 7 1|binary", // a symbolic shape that nobody asked for
                                                                   // yet
      // one value cast at two places, through a reshape and without
      "leaf|leaf|leaf 10674 0 0 1|join 24176|index 59 0 0 93394|integer|movement|product|unary|"
      "binary 52662 0 23|scalar 35494",
      // a value narrowed and widened again, behind the gate of its load
      "leaf 0 0 0 17|leaf 28744 0 36435 3|cast 17 28|join 31 9 8 11288 7",
      // halves that are compared and chosen from, in lanes and in a scalar rest
      "leaf|leaf 0 0 10728 3|join|cast 49327 75132|integer|unary 14 "
      "2636|movement|movement|binary|binary|binary|"
      "index 47239 0 0 4",
      // unsigned numbers from small negative ones, as floats
      "leaf|leaf 73825 0 18393 53|cast 25 4508|movement 10532 17 0 1|movement 59 14|reduce 88184 0 0 0 19972",
      "leaf 75378 0 28 6|cast 0 93831|binary 9 0 62",
      // a loaded index keeps its gate inside a second gate
      "leaf 0 0 15 50|index|movement 25 46 0 24859|effect 11335 1",
      // a loaded index that a gate bounds by an expression
      "leaf 0 0 50 62|movement 0 59|index 49|leaf|unary",
      // a bool that becomes all lanes of a vector, in C
      "leaf 0 33568|leaf 0 0 0 11|binary 21 0 23|gradient 80253 97921",
      // a maximum whose terms are doubled and wrap
      "leaf 12695 0 56 1|symbolic 0 0 3 5 44047",
      // the least of padded numbers: the terms of some lanes are one constant
      "leaf 58384 0 0 59|movement 0 5 0 5689|reduce 41 0 13 0 90667",
      "leaf 48 0 0 11|movement 0 37 0 560|reduce 1 0 7 0 27765",
      // the upper half of a 64-bit number, as a signed one
      "leaf 22587|leaf|kernel|bitcast 32 26|binary 19|binary 4991 49813 57",
      "leaf 42246 0 0 3|bitcast 0 26|gradient|cast 31 10687|binary|binary 89276 9",
      // narrow integers in eleven lanes
      "leaf 0 0 0 13|leaf 19 0 47270 18|effect|product|cast 21 61133|movement 21851 14 13 13|gradient|leaf|"
      "binary 5 0 52|product|bitcast|reduce 52 0 0 0 35138",
      // a kernel by hand whose value turns out not to matter, and one with two results
      "leaf|kernel|binary 9 0 45|effect 26 1",
      "leaf|leaf|binary|movement 0 1|kernel 0 38267|movement 0 2|binary 5752|effect 14124 46",
      // gates of loaded indices that bound an expression inside an expression
      "leaf|leaf 0 0 0 11|binary|join 1 31 9 0 31|kernel|shard|index|movement|movement 43 9 37 "
      "31|binary|unary|movement|"
      "index 11816 0 0 2719",
      "leaf 0 0 50 29|symbolic 0 0 0 0 50|gradient 29 65558 2",
      // an element of a reshaped empty tensor
      "leaf 75426 68387 65200 46439 78650 13936|"
      "movement 53992 19302 90793 90953 64791 65691|"
      "integer 92169 78870 91239 98567 24525 34136|"
      "reduce 16493 29125 99573 37154 69781 40396|"
      "binary 32684 65068 82876 91466 67334 61452|"
      "unary 39296 74554 52010 63325 19274 81893|"
      "integer 97096 21853 43630 3528 72767 26397|"
      "movement 71048 45673 34007 2518 90468 92519|"
      "movement 76843 33946 24949 94622 30096 6652|"
      "movement 96067 29982 30436 81344 37862 72035"};
  for (const int64_t way : {0, 1, 2}) {
    Variation variation;
    variation.settings = {{"SPEC", 1}, {"IGNORE_OOB", 0}, {"NOOPT", way == 1}, {"CPU_LLVM", way != 2}};
    for (const char* text : kPrograms) CHECK_MESSAGE(failureOf(parseProgram(text), variation) == "", text);
  }
}

TEST_CASE("a failing program is minimised to the steps that matter") {
  fuzz::Program p = randomProgram(3);
  p.steps.push_back({"reduce", {7, 9, 5, 3, 2, 1}});
  auto fails = [](const fuzz::Program& q) {
    return std::any_of(q.steps.begin(), q.steps.end(),
                       [](const Step& s) { return s.op == "reduce" && s.choices[1] > 4; });
  };
  fuzz::Program least = minimised(p, fails);
  REQUIRE(least.steps.size() == 1);
  CHECK(least.steps[0].choices[0] == 0);
  CHECK(parseProgram(least.text()).steps == least.steps);
  CHECK_THROWS_AS(parseProgram("no_such_step 1"), Error);
}
