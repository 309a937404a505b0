// SHA-256 of a short message, which makes the keys of random streams.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace uopscope {

std::array<uint8_t, 32> sha256(std::span<const uint8_t> message);

} // namespace uopscope
