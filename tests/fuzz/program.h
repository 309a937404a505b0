// A random tensor program as data: a list of steps, each an operation and the numbers that decide its
// choices. A step that does not fit the present values does nothing, so every list is a program. Any step can
// be dropped and any number lowered, and minimising needs no more.
//
//   Program p = randomProgram(17);
//   std::deque<Value> cpu = runProgram(p, "CPU");     // lazy: nothing is realized yet
//   p.text()                                           // "leaf 3 1 4|add 2 0|..", read by parseProgram()
#pragma once
#include "engine/tensor/tensor.h"
#include "tests/fuzz/precision.h"

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace uopscope::fuzz {

constexpr size_t kChoices = 6;

struct Step {
  std::string op;
  std::array<uint32_t, kChoices> choices{};
  bool operator==(const Step&) const = default;
};

struct Program {
  std::vector<Step> steps;
  std::string text() const;
};
Program randomProgram(uint64_t seed);
/// The inverse of text(); throws Error(Value).
Program parseProgram(const std::string& text);

/// A value of a running program.
struct Value {
  size_t step = 0; ///< the step that made it
  Tensor tensor;
  Precision precision;
  std::string text; ///< "v3 = v1 + v2"
};

/// The state of a step: the values so far and its own choices.
class State {
public:
  explicit State(std::string device) : device_(std::move(device)) {}

  const std::string& device() const { return device_; }
  size_t step() const { return step_; }
  std::deque<Value>& values() { return values_; }
  void begin(size_t step, const Step& s) {
    step_ = step;
    choices_ = &s.choices;
    next_ = 0;
  }
  /// A number below n from the step's choices; choices beyond the list are 0.
  uint32_t choose(size_t n) { return next_ < kChoices ? static_cast<uint32_t>((*choices_)[next_++] % n) : 0; }
  uint32_t number() { return next_ < kChoices ? (*choices_)[next_++] : 0; }

  /// Picks a value; dropping other steps does not change the choice.
  const Value* pick();
  /// Picks a value that broadcasts with this shape.
  const Value* pickLike(const Value& v);
  int64_t axisOf(const Tensor& t) { return t.ndim() ? static_cast<int64_t>(choose(size_t(t.ndim()))) : 0; }

  /// Adds a value, unless it is too large to be computed quickly or might overflow.
  void push(const Tensor& t, Precision p, const std::string& text);

private:
  std::string device_;
  std::deque<Value> values_; ///< a Value stays where it is when the next one is made
  size_t step_ = 0, next_ = 0;
  const std::array<uint32_t, kChoices>* choices_ = nullptr;
};

inline std::string nameOf(const Value& v) {
  return "v" + std::to_string(v.step);
}

using StepFunction = void (*)(State&);
struct StepKind {
  const char* name;
  int weight;
  StepFunction run;
};
/// All kinds of steps; each header adds its kinds.
const std::vector<StepKind>& stepKinds();

std::deque<Value> runProgram(const Program& p, const std::string& device);

} // namespace uopscope::fuzz
