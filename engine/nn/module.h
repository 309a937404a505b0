// What layers and models have in common: tensors by name, for optimizers and files.
//
//   struct Net : nn::Module {
//     nn::Linear first{4, 8}, second{8, 2};
//     Tensor operator()(const Tensor& x) const { return second(first(x).relu()); }
//     void addTo(nn::StateDict& s, const std::string& prefix) const override {
//       first.addTo(s, prefix + "first."), second.addTo(s, prefix + "second.");
//     }
//   };
//   Net net;  net.state();         // first.weight, first.bias, second.weight, second.bias
//   nn::save(net, "net.safetensors");  nn::load(net, "net.safetensors");
#pragma once
#include "engine/tensor/tensor.h"

#include <string>
#include <utility>
#include <vector>

namespace uopscope::nn {

/// Tensors by name, in the order in which they were added. Handles: the model sees
/// assignments to them.
using StateDict = std::vector<std::pair<std::string, Tensor>>;

class Module {
public:
  virtual ~Module() = default;
  /// Adds its tensors, each name after the prefix.
  virtual void addTo(StateDict& state, const std::string& prefix) const = 0;
  StateDict state() const;
  /// The tensors alone.
  std::vector<Tensor> parameters() const;
};

/// A safetensors file with the tensors of a state; the file appears when it is complete.
void save(const StateDict& state, const std::string& path);
/// The tensors in such a file, on DISK. Throws Error(File) where it is damaged or truncated.
StateDict readFile(const std::string& path);
/// Gives a model's tensors the values of the file, by name. Throws Error(Key) for a name that is missing,
/// Error(Shape) for another shape.
void load(const Module& model, const std::string& path);
inline void save(const Module& model, const std::string& path) {
  save(model.state(), path);
}

/// Tensor::training for a block.
class Training {
public:
  explicit Training(bool mode = true) : saved_(Tensor::training()) { Tensor::training() = mode; }
  ~Training() { Tensor::training() = saved_; }
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

private:
  bool saved_;
};

} // namespace uopscope::nn
