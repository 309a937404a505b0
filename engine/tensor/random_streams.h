// The streams of random numbers: one for each device that has drawn numbers since manual_seed.
//
//   Tensor::rand({4});  randomStreams()[0].drawn     // the number of words that "CPU" has drawn
//
// The results are copies: changing them changes no stream.
#pragma once
#include "engine/tensor/tensor.h"

namespace uopscope {

struct RandomStream {
  std::string device;
  Tensor key;   ///< two words
  Tensor drawn; ///< one word: the number of words drawn
};
std::vector<RandomStream> randomStreams();

} // namespace uopscope
