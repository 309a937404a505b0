// Random tensor programs are recorded, and every change of a graph is a step of their traces.
//   UOPSCOPE_FUZZ=2000 UOPSCOPE_FUZZ_SEED=500 build/fuzz_tests -tc='every change*'
#include "engine/base/context_var.h"
#include "engine/tensor/tensor_memory.h"
#include "replay/record/recorder.h"
#include "tests/fuzz/run_program.h"
#include "tests/replay/completeness.h"
#include "tests/replay/support.h"

using namespace uopscope;
using namespace uopscope::fuzz;
using namespace uopscope::test;

TEST_CASE("every change of a graph is a step: random programs") {
  const int64_t count = envInt("UOPSCOPE_FUZZ", 40), first = envInt("UOPSCOPE_FUZZ_SEED", 9000);
  size_t transitions = 0;
  for (int64_t seed = first; seed < first + count; ++seed) {
    CAPTURE(seed);
    TempTrace file;
    Recorder recorder({.path = file.path});
    {
      ObserverScope scope(&recorder);
      try {
        std::vector<Tensor> outputs;
        for (const Value& v : runProgram(randomProgram(static_cast<uint64_t>(seed)), "CPU"))
          outputs.push_back(v.tensor);
        Tensor::realize(outputs);
      } catch (const Error&) { // a program that cannot be built has a trace up to there
      }
      collectTensorPool();
    }
    recorder.finish();
    transitions += checkEveryChangeIsAStep(file.path);
  }
  CHECK(transitions > static_cast<size_t>(20 * count));
}
