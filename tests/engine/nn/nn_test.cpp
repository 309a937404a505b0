// Layers, optimizers and files from C++: the cases that were recorded from the reference (see
// tests/engine/python/nn_cases.py, which makes the same ones).
#include "engine/base/error.h"
#include "engine/nn/layers.h"
#include "engine/nn/optim.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

using namespace uopscope;

namespace {

const nlohmann::json& recorded() {
  static const nlohmann::json all =
      nlohmann::json::parse(std::ifstream(UOPSCOPE_SOURCE_DIR "/tests/golden/python/nn.json"));
  return all;
}

Tensor grid(const Ints& shape, double scale = 1, double shift = 0) {
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(
        static_cast<float>((static_cast<double>((i * 7919 + 104729) % 1999) / 999.5 - 1.0) * scale + shift));
  return Tensor::from(values, shape);
}

void compare(const std::string& name, size_t from, const std::vector<Tensor>& got) {
  for (size_t k = 0; k < got.size(); ++k) {
    CAPTURE(name);
    CAPTURE(k);
    const auto& want = recorded().at(name).at(from + k);
    CHECK(got[k].intShape() == want.at("shape").get<Ints>());
    std::vector<double> values = got[k].doubles();
    REQUIRE(values.size() == want.at("values").size());
    for (size_t i = 0; i < values.size(); ++i)
      CHECK(values[i] == doctest::Approx(want.at("values")[i].get<double>()).epsilon(1e-3).scale(0.02));
  }
}

using Make = std::function<std::unique_ptr<nn::Optimizer>(const std::vector<Tensor>&)>;
void train(const std::string& name, const Make& make, bool withBias = true) {
  std::vector<Tensor> params{grid({3, 4}, 0.5)};
  if (withBias) params.push_back(grid({3}, 1, 0.25));
  nn::Training on;
  auto opt = make(params);
  for (size_t step = 0; step < 4; ++step) {
    opt->zeroGrad();
    Tensor y = grid({5, 4}, 1, 0.1).matmul(params[0].transpose());
    if (withBias) y = y + params[1];
    (y - grid({5, 3})).square().mean().backward();
    opt->step();
    compare(name, params.size() * step, params);
  }
}

std::string temporary(const char* name) {
  return std::filesystem::temp_directory_path() / name;
}

} // namespace

TEST_CASE("layers give the reference's numbers") {
  auto check = [](const char* name, const auto& make, const Tensor& x) {
    Tensor::manualSeed(7);
    compare(name, 0, {make()(x)});
  };
  check("linear", [] { return nn::Linear(4, 3); }, grid({2, 4}));
  check("conv1d", [] { return nn::Conv2d(2, 4, {3}, {.stride = {2}, .padding = {1}}); }, grid({2, 2, 7}));
  check("conv2d", [] { return nn::Conv2d(2, 4, {3, 3}); }, grid({1, 2, 5, 5}));
  check(
      "conv_transpose1d",
      [] { return nn::ConvTranspose2d(2, 3, {3}, {.stride = {2}, .outputPadding = {1}}); }, grid({1, 2, 4}));
  check(
      "conv_transpose2d",
      [] { return nn::ConvTranspose2d(2, 4, {3, 3}, {.stride = {2}, .padding = {1}, .groups = 2}); },
      grid({1, 2, 3, 3}));
  check("batchnorm evaluating", [] { return nn::BatchNorm(3, 1e-3); }, grid({2, 3, 2, 2}));
  check("groupnorm", [] { return nn::GroupNorm(2, 4); }, grid({2, 4, 3, 3}));
  check("instancenorm", [] { return nn::InstanceNorm(3); }, grid({2, 3, 3, 3}));
  check("layernorm", [] { return nn::LayerNorm({2, 3}); }, grid({4, 2, 3}));
  check("layernorm plain", [] { return nn::LayerNorm({3}, 1e-2, false); }, grid({4, 3}));
  check("layernorm2d", [] { return nn::LayerNorm2d({3}); }, grid({2, 3, 2, 2}));
  check("rmsnorm", [] { return nn::RMSNorm(4); }, grid({3, 4}));
  check("embedding", [] { return nn::Embedding(6, 3); }, Tensor::from<int32_t>({0, 5, 2, 2, 2, 1}, {2, 3}));
  Tensor::manualSeed(7);
  auto [h, c] = nn::LSTMCell(3, 4)(grid({2, 3}));
  compare("lstm", 0, {h, c});
}

TEST_CASE("batch norm in training keeps statistics") {
  nn::Training on;
  nn::BatchNorm bn(3);
  Tensor y = bn(grid({4, 3, 2, 2}));
  compare("batchnorm training", 0,
          {y, bn.bias, bn.numBatchesTracked, bn.runningMean, bn.runningVar, bn.weight});
}

TEST_CASE("optimizers give the reference's numbers") {
  using P = const std::vector<Tensor>&;
  train("sgd", [](P p) { return nn::sgd(p, {.lr = 0.1}); });
  train("sgd momentum", [](P p) { return nn::sgd(p, {.lr = 0.1, .momentum = 0.9, .weightDecay = 0.05}); });
  train("sgd nesterov", [](P p) { return nn::sgd(p, {.lr = 0.1, .momentum = 0.8, .nesterov = true}); });
  train("sgd classic", [](P p) { return nn::sgd(p, {.lr = 0.1, .momentum = 0.8, .classic = true}); });
  train("adam", [](P p) { return nn::adam(p, {.lr = 0.1}); });
  train("adamw", [](P p) { return nn::adam(p, {.lr = 0.1, .b1 = 0.8, .b2 = 0.95, .weightDecay = 0.1}); });
  train("lamb", [](P p) { return nn::lamb(p, {.lr = 0.1, .weightDecay = 0.02}); });
  train("lars", [](P p) { return nn::lars(p, {.lr = 0.5, .trust = 0.1}); });
  train("muon", [](P p) { return nn::muon(p, {.lr = 0.1}); }, false);
  train("group", [](P p) {
    std::vector<std::unique_ptr<nn::Optimizer>> members;
    members.push_back(nn::sgd({p[0]}, {.lr = 0.1}));
    members.push_back(nn::adam({p[1]}, {.lr = 0.1, .weightDecay = 0.01}));
    return std::make_unique<nn::OptimizerGroup>(std::move(members));
  });
}

TEST_CASE("an optimizer says what it lacks") {
  CHECK_THROWS_WITH_AS(nn::sgd({}), doctest::Contains("at least one"), Error);
  auto opt = nn::sgd({Tensor::ones({2})});
  CHECK_THROWS_WITH_AS(opt->step(), doctest::Contains("training"), Error);
  nn::Training on;
  CHECK_THROWS_WITH_AS(opt->step(), doctest::Contains("no gradient"), Error);
}

TEST_CASE("a model is saved, loaded, and damaged files are refused") {
  std::string path = temporary("uopscope_nn_test.safetensors");
  Tensor::manualSeed(1);
  nn::Linear a(3, 2), b(3, 2);
  nn::save(a, path);
  nn::load(b, path);
  CHECK(a.weight.doubles() == b.weight.doubles());
  CHECK_THROWS_WITH_AS(nn::load(nn::BatchNorm(2, 1e-5, false), path),
                       doctest::Contains("num_batches_tracked"), Error);
  CHECK_THROWS_WITH_AS(nn::load(nn::Linear(4, 2), path), doctest::Contains("(2, 4)"), Error);
  auto size = std::filesystem::file_size(path);
  for (uintmax_t cut : {uintmax_t{0}, uintmax_t{7}, uintmax_t{30}, size - 1}) {
    std::filesystem::resize_file(path, cut);
    CHECK_THROWS_WITH_AS(nn::readFile(path), doctest::Contains("truncated"), Error);
    nn::save(a, path);
  }
  CHECK_THROWS_AS(nn::readFile(temporary("uopscope_no_such_file")), Error);
  std::filesystem::remove(path);
}
