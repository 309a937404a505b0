// The streams of random numbers: one for each device that drew some since manual_seed.
//
//   Tensor::rand({4});  randomStreams()[0].drawn     how many words "CPU" has drawn
//
// What is answered are copies: changing them changes no stream.
#pragma once
#include "engine/tensor/tensor.h"

namespace uopscope {

struct RandomStream {
  std::string device;
  Tensor key;   ///< two words
  Tensor drawn; ///< one: the number of words drawn
};
std::vector<RandomStream> randomStreams();

} // namespace uopscope
