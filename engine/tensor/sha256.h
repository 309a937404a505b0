// SHA-256 of a short message; keys of random streams are made with it.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace uopscope {

std::array<uint8_t, 32> sha256(std::span<const uint8_t> message);

} // namespace uopscope
