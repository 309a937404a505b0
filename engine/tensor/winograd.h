// Convolution by Winograd's algorithm F(4, 3), with WINO=1: windows of 6 numbers give 4 results of a filter of 3 by 6 products
// instead of 12; in two dimensions 36 instead of 144. The windows and the filters are transformed before, the products after,
// by small matrices (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016). Sums of numbers that cancel make
// results less exact: errors are some ten times those of the convolution itself.
//
//   if (suitsWinograd(padded, weight, stride, dilation)) y = winogradConv(padded, weight, groups, {});
#pragma once
#include "engine/tensor/tensor.h"

namespace uopscope {

/// Whether WINO asks for it, and the convolution is one of floats by filters of 3 in each dimension, without gaps.
bool suitsWinograd(const Tensor& padded, const Tensor& weight, const Ints& stride, const Ints& dilation);

/// The convolution of padded pictures (batch, channels, rows...) with a weight (filters, channels of a group, 3...): a tensor
/// (batch, filters, rows - 2...). `sum`: the type of its sums and of the result; the common type of both if none.
Tensor winogradConv(const Tensor& padded, const Tensor& weight, int64_t groups, std::optional<DType> sum);

} // namespace uopscope
