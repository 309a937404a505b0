// The same product as matmul.py, from C++: the engine is a library, and a program records like a script does.
//   build/samples/cpp_matmul                                         runs
//   app/run record build/samples/cpp_matmul -o matmul.uoptrace       records; UOPSCOPE_TRACE=FILE does the
//   same
// Look at: the passes are those of the Python sample. Operations of C++ name no lines; those of Python do.
#include "engine/tensor/tensor.h"
#include "replay/record/session.h"

#include <cmath>
#include <cstdio>

using namespace uopscope;

int main(int argc, char** argv) {
  RecordingSession session(argc, argv);
  constexpr int64_t kRows = 32, kInner = 24, kColumns = 16;
  Tensor::manualSeed(42);
  Tensor a = Tensor::rand({kRows, kInner}).realize(), b = Tensor::rand({kInner, kColumns}).realize();
  std::vector<float> out = a.matmul(b).relu().values<float>();

  std::vector<float> x = a.values<float>(), y = b.values<float>();
  double largest = 0;
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < kColumns; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < kInner; ++k)
        sum += static_cast<double>(x[static_cast<size_t>(i * kInner + k)]) *
               static_cast<double>(y[static_cast<size_t>(k * kColumns + j)]);
      largest =
          std::max(largest, std::abs(sum - static_cast<double>(out[static_cast<size_t>(i * kColumns + j)])));
    }
  std::printf("largest difference to a plain loop: %g\n", largest);
  session.finish();
  return largest < 1e-4 ? 0 : 1;
}
