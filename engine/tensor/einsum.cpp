// Tensor::einsum: a product of tensors whose axes are named by letters, summed over the letters that the output lacks.
//
//   Tensor::einsum("ij,jk->ik", {a, b})     a product of matrices
//   Tensor::einsum("...ii->...i", {a})      the diagonals of a batch
//
// Each operand becomes a tensor with one axis for each letter of the formula, in alphabetic order; the operands are then
// multiplied element by element. The schedule finds the product of matrices in the sum.
#include "engine/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>

namespace uopscope {

namespace {

/// One letter for each axis, of each operand and of the result.
struct EinsumFormula {
  std::vector<std::string> inputs;
  std::string output;
};

using Sizes = std::map<char, Sint>; ///< the length of the axis of each letter

/// The letters that a formula does not use, in the order in which an ellipsis takes them.
std::string unusedLetters(const std::string& formula) {
  std::string unused;
  for (char c = 'A'; c <= 'z'; ++c)
    if (std::isalpha(static_cast<unsigned char>(c)) && formula.find(c) == std::string::npos) unused += c;
  return unused;
}

/// The output of a formula without an arrow: the axes of the ellipsis, then the letters that occur once.
std::string impliedOutput(const std::string& inputs, const std::string& ellipsis) {
  std::map<char, int> times;
  for (char c : inputs)
    if (std::isalpha(static_cast<unsigned char>(c))) ++times[c];
  std::string output = ellipsis;
  for (auto [c, n] : times)
    if (n == 1) output += c;
  return output;
}

EinsumFormula parseFormula(std::string formula, const std::vector<Tensor>& operands) {
  std::erase(formula, ' ');
  const size_t arrow = formula.find("->");
  const std::string lhs = formula.substr(0, arrow);
  EinsumFormula f{{""}, arrow == std::string::npos ? "" : formula.substr(arrow + 2)};
  for (char c : lhs)
    if (c == ',')
      f.inputs.emplace_back();
    else
      f.inputs.back() += c;
  if (f.inputs.size() != operands.size())
    fail(ErrorKind::Value, fmt::format("number of operands doesn't match, expected {}, got {}",
                                       f.inputs.size(), operands.size()));
  // An ellipsis becomes unused letters, aligned at the right.
  std::vector<size_t> ranks(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    const size_t axes = operands[i].shape().size(), named = f.inputs[i].size();
    if (f.inputs[i].find("...") == std::string::npos) continue;
    if (axes + 3 < named)
      fail(ErrorKind::Index, fmt::format("'{}' names {} axes of a tensor of shape {}", f.inputs[i], named - 3,
                                         shapeStr(operands[i].shape())));
    ranks[i] = axes + 3 - named;
  }
  const size_t most = *std::max_element(ranks.begin(), ranks.end());
  const std::string ellipsis = unusedLetters(formula).substr(0, most);
  if (ellipsis.size() < most)
    fail(ErrorKind::Value, fmt::format("'{}' has more axes than there are letters", formula));
  for (size_t i = 0; i < f.inputs.size(); ++i)
    if (size_t at = f.inputs[i].find("..."); at != std::string::npos)
      f.inputs[i].replace(at, 3, ellipsis.substr(most - ranks[i]));
  if (arrow == std::string::npos)
    f.output = impliedOutput(lhs, ellipsis);
  else if (size_t at = f.output.find("..."); at != std::string::npos)
    f.output.replace(at, 3, ellipsis);
  return f;
}

/// Takes the diagonal for each pair of equal letters. `letters` then names the axes of the result.
Tensor withoutRepeats(Tensor x, std::string& letters) {
  for (size_t j = 0; j < letters.size();) {
    const char c = letters[j];
    const size_t k = letters.rfind(c);
    if (k == j) {
      ++j;
      continue;
    }
    const Shape& shape = x.shape();
    if (!(shape[j] == shape[k]))
      fail(ErrorKind::Shape, fmt::format("axis '{}' has sizes {} and {}", c, shape[j].str(), shape[k].str()));
    x = x.diagonal(0, static_cast<int64_t>(j), static_cast<int64_t>(k));
    letters.erase(k, 1);
    letters.erase(j, 1);
    letters += c;
    j = 0;
  }
  return x;
}

/// Enters the lengths of a tensor's axes. A length of 1 is broadcast.
void noteSizes(const Tensor& x, const std::string& letters, Sizes& sizes) {
  for (size_t j = 0; j < letters.size(); ++j) {
    const Sint& length = x.shape()[j];
    auto [known, isNew] = sizes.emplace(letters[j], length);
    if (isNew || known->second == length || graph::isInt(length, 1)) continue;
    if (!graph::isInt(known->second, 1))
      fail(ErrorKind::Shape,
           fmt::format("axis '{}' has sizes {} and {}", letters[j], known->second.str(), length.str()));
    known->second = length;
  }
}

/// The tensor with one axis for each letter of `sizes`, in their order.
Tensor alignedTo(const Sizes& sizes, const Tensor& x, const std::string& letters) {
  Ints order(letters.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return letters[static_cast<size_t>(a)] < letters[static_cast<size_t>(b)];
  });
  Shape aligned, full;
  for (const auto& [c, size] : sizes) {
    const size_t at = letters.find(c);
    aligned.push_back(at == std::string::npos ? Sint(1) : x.shape()[at]);
    full.push_back(size);
  }
  return x.permute(order).reshape(aligned).expand(full);
}

} // namespace

Tensor Tensor::einsum(const std::string& formula, const std::vector<Tensor>& operands,
                      std::optional<DType> dt) {
  OperationScope op("einsum");
  EinsumFormula f = parseFormula(formula, operands);
  Sizes sizes;
  std::vector<Tensor> xs;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& shape = operands[i].shape();
    if (f.inputs[i].size() != shape.size())
      fail(ErrorKind::Index, fmt::format("'{}' names {} axes of a tensor of shape {}", f.inputs[i],
                                         f.inputs[i].size(), shapeStr(shape)));
    xs.push_back(withoutRepeats(operands[i], f.inputs[i]));
    noteSizes(xs.back(), f.inputs[i], sizes);
  }
  for (char c : f.output)
    if (!sizes.count(c)) fail(ErrorKind::Index, fmt::format("output axis '{}' is in no operand", c));
  Tensor product;
  for (size_t i = 0; i < xs.size(); ++i) {
    Tensor x = alignedTo(sizes, xs[i], f.inputs[i]);
    product = product ? product.mul(x) : x;
  }
  Ints summed, order;
  std::string kept;
  int64_t axis = 0;
  for (const auto& [c, size] : sizes) {
    if (f.output.find(c) == std::string::npos)
      summed.push_back(axis);
    else
      kept += c;
    ++axis;
  }
  for (char c : f.output) order.push_back(static_cast<int64_t>(kept.find(c)));
  return product.sum(summed, false, dt).permute(order);
}

} // namespace uopscope
