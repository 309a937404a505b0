// Makes, prints, runs and minimises random programs. See program.h.
#pragma once
#include "engine/base/error.h"
#include "tests/fuzz/arithmetic_steps.h"
#include "tests/fuzz/device_steps.h"
#include "tests/fuzz/gradient_steps.h"
#include "tests/fuzz/movement_steps.h"
#include "tests/fuzz/reduce_steps.h"

#include <functional>
#include <random>
#include <sstream>

namespace uopscope::fuzz {

constexpr int64_t kMostElements = 4000, kMostHuge = 200000;

inline const std::vector<StepKind>& stepKinds() {
  static const std::vector<StepKind> all = [] {
    std::vector<StepKind> kinds = arithmeticSteps();
    for (const auto* more : {&movementSteps(), &reduceSteps(), &gradientSteps(), &deviceSteps()})
      kinds.insert(kinds.end(), more->begin(), more->end());
    return kinds;
  }();
  return all;
}

inline const Value* State::pick() {
  if (values_.empty()) return nullptr;
  // The choice refers to the number of a step, so it means the same value when other steps are dropped.
  uint32_t n = number();
  size_t wanted = step_ ? n % step_ : 0;
  if (n / 64 % 2) wanted = step_; // half of the time the newest
  const Value* found = &values_.front();
  for (const Value& v : values_)
    if (v.step <= wanted) found = &v;
  return found;
}
inline const Value* State::pickLike(const Value& v) {
  std::vector<const Value*> same;
  for (const Value& other : values_)
    if (other.tensor.shape() == v.tensor.shape() || (other.tensor.ndim() == 0 && v.tensor.intNumel() > 1) ||
        (other.tensor.ndim() == v.tensor.ndim() && other.tensor.intNumel() == 1))
      same.push_back(&other);
  return same.empty() ? nullptr : same[choose(same.size())];
}
inline void State::push(const Tensor& t, Precision p, const std::string& text) {
  int64_t n = t.intNumel();
  if (t.ndim() > 6 || n > (t.ndim() <= 2 ? kMostHuge : kMostElements) || p.mag > largestMagnitude(t.dtype()))
    return;
  if (n > kMostElements && values_.size() > 6) return;
  values_.push_back(
      {step_, t, p, fmt::format("v{} = {}    # {} {}", step_, text, shapeStr(t.shape()), t.dtype().name())});
}

inline Program randomProgram(uint64_t seed) {
  std::mt19937_64 random(seed);
  int total = 0;
  for (const StepKind& k : stepKinds()) total += k.weight;
  Program p;
  size_t steps = 6 + random() % 8;
  for (size_t i = 0; i < steps; ++i) {
    Step step{"leaf", {}};
    auto at = static_cast<int>(random() % static_cast<uint64_t>(total));
    if (i >= 2)
      for (const StepKind& k : stepKinds()) {
        step.op = k.name;
        if ((at -= k.weight) < 0) break;
      }
    for (uint32_t& c : step.choices) c = static_cast<uint32_t>(random() % 100000);
    p.steps.push_back(step);
  }
  return p;
}

inline std::string Program::text() const {
  std::string all;
  for (const Step& s : steps) {
    size_t used = kChoices;
    while (used && s.choices[used - 1] == 0) --used;
    all += (all.empty() ? "" : "|") + s.op;
    for (size_t i = 0; i < used; ++i) all += " " + std::to_string(s.choices[i]);
  }
  return all;
}
inline Program parseProgram(const std::string& text) {
  Program p;
  std::istringstream steps(text);
  for (std::string one; std::getline(steps, one, '|');) {
    std::istringstream words(one);
    Step s;
    words >> s.op;
    for (size_t i = 0; i < kChoices && words >> s.choices[i]; ++i) {
    }
    bool known = std::any_of(stepKinds().begin(), stepKinds().end(),
                             [&](const StepKind& k) { return k.name == s.op; });
    if (!known) throw Error(ErrorKind::Value, fmt::format("no step is called '{}'", s.op));
    p.steps.push_back(s);
  }
  return p;
}

inline std::deque<Value> runProgram(const Program& p, const std::string& device) {
  State state(device);
  for (size_t i = 0; i < p.steps.size(); ++i)
    for (const StepKind& k : stepKinds())
      if (p.steps[i].op == k.name) {
        state.begin(i, p.steps[i]);
        k.run(state);
      }
  return state.values();
}

/// The smallest program for which `fails` still holds: first steps are dropped, then numbers lowered.
inline Program minimised(Program p, const std::function<bool(const Program&)>& fails, int budget = 400) {
  auto attempt = [&](const Program& smaller) {
    if (budget <= 0 || smaller.steps == p.steps || !fails(smaller)) return false;
    p = smaller;
    return true;
  };
  for (bool changed = true; changed && budget > 0;) {
    changed = false;
    for (size_t size = std::max<size_t>(p.steps.size() / 2, 1); size; size /= 2)
      for (size_t i = p.steps.size(); i-- > 0;) {
        if (i + size > p.steps.size()) continue;
        Program smaller = p;
        smaller.steps.erase(smaller.steps.begin() + static_cast<std::ptrdiff_t>(i),
                            smaller.steps.begin() + static_cast<std::ptrdiff_t>(i + size));
        --budget;
        changed |= attempt(smaller);
      }
    for (size_t i = 0; i < p.steps.size(); ++i)
      for (size_t c = 0; c < kChoices; ++c)
        for (uint32_t lower : {0u, p.steps[i].choices[c] % 64, p.steps[i].choices[c] / 2}) {
          if (lower >= p.steps[i].choices[c]) continue;
          Program smaller = p;
          smaller.steps[i].choices[c] = lower;
          --budget;
          changed |= attempt(smaller);
        }
  }
  return p;
}

} // namespace uopscope::fuzz
