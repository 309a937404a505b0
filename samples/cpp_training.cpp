// Training from C++: a small network learns which side of a circle a point is on.
//   build/samples/cpp_training
//   app/run record build/samples/cpp_training -o training.uoptrace
// Look at: the second step schedules nothing anew; gradients and updates of one layer share kernels.
#include "engine/nn/layers.h"
#include "engine/nn/optim.h"
#include "replay/record/session.h"

#include <cstdio>

using namespace uopscope;

struct Net : nn::Module {
  nn::Linear first{2, 16}, second{16, 2};
  Tensor operator()(const Tensor& x) const { return second(first(x).tanh()); }
  void addTo(nn::StateDict& state, const std::string& prefix) const override {
    first.addTo(state, prefix + "first.");
    second.addTo(state, prefix + "second.");
  }
};

int main(int argc, char** argv) {
  RecordingSession session(argc, argv);
  constexpr int kSteps = 60;
  Tensor::manualSeed(3);
  Tensor points = Tensor::uniform({256, 2}, ConstValue::ofFloat(-1), ConstValue::ofFloat(1)).realize();
  Tensor inside = points.square().sum(Ints{1}).lt(0.5).cast(dtypes::int32).realize();

  Net net;
  auto opt = nn::adam(net.parameters(), {.lr = 0.05});
  nn::Training on;
  double loss = 0;
  for (int i = 0; i < kSteps; ++i) {
    opt->zeroGrad();
    Tensor l = net(points).sparseCategoricalCrossentropy(inside).backward();
    opt->step();
    loss = l.item().asDouble();
    if (i % 10 == 0) std::printf("step %2d  loss %.3f\n", i, loss);
  }
  double right = net(points).argmax(1).eq(inside).mean().item().asDouble();
  std::printf("%.0f %% right\n", 100 * right);
  session.finish();
  return right > 0.9 ? 0 : 1;
}
