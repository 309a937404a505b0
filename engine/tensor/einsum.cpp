// Tensor::einsum: a product of tensors whose axes are named by letters, summed over the letters that the output lacks.
//
//   Tensor::einsum("ij,jk->ik", {a, b})     a product of matrices
//   Tensor::einsum("...ii->...i", {a})      the diagonals of a batch
//
// Each operand becomes a tensor with one axis for each letter of the formula, in alphabetic order; the operands are then
// multiplied element by element. The schedule finds the product of matrices in the sum. Of more than two operands, two are
// contracted at a time, as long as that takes fewer products: "ij,jk,kl->il" of n x n matrices takes 2 n^3, not n^4.
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

/// Operands and the letters of their axes.
struct Factors {
  std::vector<Tensor> tensors;
  std::vector<std::string> letters;

  void erase(size_t i) {
    tensors.erase(tensors.begin() + static_cast<ptrdiff_t>(i));
    letters.erase(letters.begin() + static_cast<ptrdiff_t>(i));
  }
};

/// The product of the operands, summed over all letters but those of `output`.
Tensor contracted(const Factors& f, const Sizes& all, const std::string& output, std::optional<DType> dt) {
  Sizes sizes;
  for (const std::string& letters : f.letters)
    for (char c : letters) sizes.emplace(c, all.at(c));
  Tensor product;
  for (size_t i = 0; i < f.tensors.size(); ++i) {
    Tensor x = alignedTo(sizes, f.tensors[i], f.letters[i]);
    product = product ? product.mul(x) : x;
  }
  Ints summed, order;
  std::string kept;
  int64_t axis = 0;
  for (const auto& [c, size] : sizes) {
    if (output.find(c) == std::string::npos)
      summed.push_back(axis);
    else
      kept += c;
    ++axis;
  }
  for (char c : output) order.push_back(static_cast<int64_t>(kept.find(c)));
  return product.sum(summed, false, dt).permute(order);
}

/// Two operands to contract first, what is left of their letters, and the number of products.
struct Pair {
  size_t a = 0, b = 0;
  std::string kept;
  double products = 0;
};

double productsOver(const std::string& letters, const Sizes& sizes) {
  double n = 1;
  for (char c : letters) n *= static_cast<double>(sizes.at(c).vmax());
  return n;
}

/// The pair with the fewest products; of equal ones the first.
Pair cheapestPair(const std::vector<std::string>& letters, const Sizes& sizes, const std::string& output) {
  Pair best;
  for (size_t a = 0; a < letters.size(); ++a)
    for (size_t b = a + 1; b < letters.size(); ++b) {
      std::string both = letters[a], needed = output;
      for (char c : letters[b])
        if (both.find(c) == std::string::npos) both += c;
      const double products = productsOver(both, sizes);
      if (best.b && products >= best.products) continue;
      for (size_t i = 0; i < letters.size(); ++i)
        if (i != a && i != b) needed += letters[i];
      std::erase_if(both, [&](char c) { return needed.find(c) == std::string::npos; });
      best = {a, b, both, products};
    }
  return best;
}

/// The pairs in the order in which they are contracted, until two operands are left; none if all at once takes no more products.
std::vector<Pair> contractionOrder(std::vector<std::string> letters, const Sizes& sizes,
                                   const std::string& output) {
  std::string all;
  for (const auto& [c, size] : sizes) all += c;
  std::vector<Pair> pairs;
  double products = 0;
  while (letters.size() > 2) {
    pairs.push_back(cheapestPair(letters, sizes, output));
    products += pairs.back().products;
    letters[pairs.back().a] = pairs.back().kept;
    letters.erase(letters.begin() + static_cast<ptrdiff_t>(pairs.back().b));
  }
  products += cheapestPair(letters, sizes, output).products;
  return products < productsOver(all, sizes) ? pairs : std::vector<Pair>{};
}

/// Contracts operands in pairs; sums in `dt`, of halves in float32. Bytes and shorts stay, since their products wrap
/// before they are summed in 32 bits.
void contractPairs(Factors& f, const Sizes& sizes, const std::string& output, std::optional<DType> dt) {
  if (f.tensors.size() < 3) return;
  for (const Tensor& x : f.tensors)
    if (!x.dtype().isFloat() && x.dtype().itemsize() < 4) return;
  for (const Pair& p : contractionOrder(f.letters, sizes, output)) {
    const Factors two{{f.tensors[p.a], f.tensors[p.b]}, {f.letters[p.a], f.letters[p.b]}};
    const bool isHalf = dtypes::leastUpper(two.tensors[0].dtype(), two.tensors[1].dtype()).itemsize() < 4;
    f.tensors[p.a] = contracted(two, sizes, p.kept, !dt && isHalf ? dtypes::float32 : dt);
    f.letters[p.a] = p.kept;
    f.erase(p.b);
  }
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
  DType type = xs[0].dtype();
  for (const Tensor& x : xs) type = dtypes::leastUpper(type, x.dtype());
  Factors factors{xs, f.inputs};
  contractPairs(factors, sizes, f.output, dt);
  Tensor result = contracted(factors, sizes, f.output, dt);
  return !dt && type.isFloat() && type.itemsize() < 4 ? result.cast(type) : result;
}

} // namespace uopscope
