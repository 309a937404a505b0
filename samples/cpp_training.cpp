// Training from C++: a small network learns which side of a circle a point is on, by gradient descent with momentum.
//   build/samples/cpp_training
//   app/run record build/samples/cpp_training -o training.uoptrace
// Look at: the second step schedules nothing anew; gradients and updates of one layer share kernels.
#include "engine/tensor/tensor.h"
#include "replay/record/session.h"

#include <cmath>
#include <cstdio>
#include <vector>

using namespace uopscope;

// y = x W^T + b, with weights as small as the layer is wide.
struct Linear {
  Tensor weight, bias;
  Linear(int64_t in, int64_t out)
      : weight(uniform({out, in}, 1 / std::sqrt(static_cast<double>(in)))),
        bias(uniform({out}, 1 / std::sqrt(static_cast<double>(in)))) {}
  Tensor operator()(const Tensor& x) const { return x.linear(weight.transpose(), bias); }
  static Tensor uniform(const Ints& shape, double bound) {
    return Tensor::uniform(shape, ConstValue::ofFloat(-bound), ConstValue::ofFloat(bound));
  }
};

int main(int argc, char** argv) {
  RecordingSession session(argc, argv);
  constexpr int kSteps = 60;
  constexpr double kRate = 0.5, kMomentum = 0.9;
  Tensor::manualSeed(3);
  Tensor points = Tensor::uniform({256, 2}, ConstValue::ofFloat(-1), ConstValue::ofFloat(1)).realize();
  Tensor inside = points.square().sum(Ints{1}).lt(0.5).cast(dtypes::int32).realize();

  Linear first(2, 16), second(16, 2);
  auto net = [&](const Tensor& x) { return second(first(x).tanh()); };
  const std::vector<Tensor> weights{first.weight, first.bias, second.weight, second.bias};
  std::vector<Tensor> speeds;
  for (const Tensor& w : weights) speeds.push_back(w.fullLike(ConstValue::ofFloat(0)));

  double loss = 0;
  for (int i = 0; i < kSteps; ++i) {
    Tensor l = net(points).sparseCategoricalCrossentropy(inside);
    const std::vector<Tensor> gradients = l.gradient(weights);
    std::vector<Tensor> changed{l};
    for (size_t k = 0; k < weights.size(); ++k) {
      speeds[k].assign(speeds[k] * kMomentum + gradients[k]);
      weights[k].assign(weights[k] - speeds[k] * kRate);
      changed.push_back(speeds[k]), changed.push_back(weights[k]);
    }
    Tensor::realize(changed);
    loss = l.item().asDouble();
    if (i % 10 == 0) std::printf("step %2d  loss %.3f\n", i, loss);
  }
  double right = net(points).argmax(1).eq(inside).mean().item().asDouble();
  std::printf("%.0f %% right\n", 100 * right);
  session.finish();
  return right > 0.9 ? 0 : 1;
}
