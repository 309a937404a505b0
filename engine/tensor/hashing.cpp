// Keccak over tensors (FIPS 202) for a batch of messages. The state of each message is 25 words of 64 bits.
//
// The tables are computed here by the standard's own rules: rotations by walking the lanes, which also gives
// their new places, and round constants by a shift register.
#include "engine/tensor/tensor.h"

#include <fmt/format.h>

#include <array>

namespace uopscope {

namespace {

constexpr int kHashLanes = 25, kRounds = 24, kStateBytes = 200;

struct Tables {
  std::array<int32_t, kHashLanes> from;  ///< the lane that moves to this place
  std::array<uint64_t, kHashLanes> left; ///< its rotation to the left
  std::array<uint64_t, kRounds> rounds;  ///< the round constants
};

Tables makeTables() {
  Tables t{};
  std::array<uint64_t, kHashLanes> rotation{};
  size_t x = 1, y = 0;
  for (uint64_t step = 0; step < kRounds; ++step) {
    rotation[x + 5 * y] = (step + 1) * (step + 2) / 2 % 64;
    const size_t next = (2 * x + 3 * y) % 5;
    x = y;
    y = next;
  }
  for (size_t from = 0; from < kHashLanes; ++from) {
    const size_t column = from % 5, row = from / 5;
    const size_t to = row + 5 * ((2 * column + 3 * row) % 5);
    t.from[to] = static_cast<int>(from);
    t.left[to] = rotation[from];
  }
  uint32_t bits = 1;
  for (uint64_t& constant : t.rounds)
    for (int j = 0; j < 7; ++j) {
      if (bits & 1) constant |= uint64_t{1} << ((1 << j) - 1);
      bits = bits << 1 ^ (bits >> 7) * 0x171;
    }
  return t;
}

class Permutation {
public:
  explicit Permutation(const std::string& device) : device_(device) {
    Tables t = makeTables();
    std::array<uint64_t, kHashLanes> back{};
    for (size_t i = 0; i < back.size(); ++i) back[i] = 63 - t.left[i]; // one more shift follows
    auto words = [&](const void* data) {
      return Tensor::fromBytes(data, {1, kHashLanes}, dtypes::uint64, on());
    };
    from_ = Tensor::fromBytes(t.from.data(), {kHashLanes}, dtypes::int32, on());
    left_ = words(t.left.data());
    back_ = words(back.data());
    for (uint64_t constant : t.rounds) {
      std::array<uint64_t, kHashLanes> lanes{};
      lanes[0] = constant;
      constants_.push_back(words(lanes.data()));
    }
  }

  /// Applies all rounds to a state of shape (batch, 25).
  Tensor operator()(Tensor state) const {
    Sint batch = state.shape()[0];
    Shape square{batch, 5, 5}, flat{batch, kHashLanes};
    for (const Tensor& constant : constants_) {
      Tensor rows = state.reshape(square); // (batch, y, x)
      Tensor parity;
      for (int64_t y = 0; y < 5; ++y) {
        Tensor row = rows.shrink({std::nullopt, std::pair<Sint, Sint>{y, y + 1}, std::nullopt});
        parity = parity ? parity.bitXor(row) : row;
      }
      parity = parity.contiguous();
      Tensor next = parity.roll({-1}, Ints{2}), before = parity.roll({1}, Ints{2});
      Tensor mixed = before.bitXor(next.lshift(1)).bitXor(next.rshift(63));
      state = rows.bitXor(mixed.expand(square)).reshape(flat).contiguous();
      state = state.get({Index::all(), Index::of(from_)}).contiguous();
      Tensor up = state.alu(Op::SHL, {left_.expand(flat)});
      Tensor down = state.rshift(1).alu(Op::SHR, {back_.expand(flat)});
      rows = up.bitOr(down).reshape(square).contiguous();
      rows = rows.bitXor(rows.roll({-1}, Ints{2}).bitNot().bitAnd(rows.roll({-2}, Ints{2})));
      state = rows.reshape(flat).bitXor(constant).contiguous();
    }
    return state;
  }

private:
  TensorOptions on() const { return {device_, {}, false}; }
  std::string device_;
  Tensor from_, left_, back_;
  std::vector<Tensor> constants_;
};

constexpr int64_t kChunk = int64_t{1} << 20;

/// Appends zeros to a row of bytes, up to a whole number of chunks.
Tensor padToChunks(const Tensor& bytes) {
  int64_t n = bytes.intNumel();
  return bytes.pad({{0, Sint(roundUp(std::max<int64_t>(n, 1), kChunk) - n)}});
}

} // namespace

Tensor Tensor::keccak(const std::string& kind) const {
  if (kind == "sha3_224") return keccak(144, 6);
  if (kind == "sha3_256") return keccak(136, 6);
  if (kind == "shake_128") return keccak(168, 31);
  OperationScope op("keccak");
  fail(ErrorKind::Key, fmt::format("'{}' is none of sha3_224, sha3_256, shake_128", kind));
}

Tensor Tensor::keccak(int64_t rate, int64_t suffix) const {
  OperationScope op("keccak");
  if (rate < 8 || rate >= kStateBytes || rate % 8)
    fail(ErrorKind::Value, fmt::format("rate={} must be a multiple of 8 below {}", rate, kStateBytes));
  if (ndim() == 0) fail(ErrorKind::Index, "the message is the last axis, and a scalar has none");
  Tensor bytes = bitcast(dtypes::uint8);
  Shape result = bytes.shape();
  if (!result.back().isInt())
    fail(ErrorKind::Shape,
         fmt::format("a message of variable length {}: how many blocks there are must be known",
                     result.back().str()));
  int64_t length = result.back().i(), blocks = length / rate + 1;
  result.pop_back();
  Sint batch = uopscope::prod(result);
  // The message, then the suffix, then the last bit of the last block.
  std::vector<uint8_t> tail(static_cast<size_t>(blocks * rate), 0);
  tail[static_cast<size_t>(length)] ^= static_cast<uint8_t>(suffix);
  tail.back() ^= 0x80;
  Tensor end = fromBytes(tail.data(), {1, blocks * rate}, dtypes::uint8, {device(), {}, false});
  Tensor padded = bytes.reshape({batch, Sint(length)})
                      .pad({{0, 0}, {0, Sint(blocks * rate - length)}})
                      .bitXor(end)
                      .reshape({batch, Sint(blocks), Sint(rate)})
                      .pad({{0, 0}, {0, 0}, {0, Sint(kStateBytes - rate)}});
  Tensor words = padded.contiguous().bitcast(dtypes::uint64);
  Permutation permutation(device());
  Tensor state;
  for (int64_t block = 0; block < blocks; ++block) {
    Tensor next =
        words.shrink({std::nullopt, std::pair<Sint, Sint>{block, block + 1}, std::nullopt}).squeeze(1);
    state = permutation(state ? state.bitXor(next) : next);
    realize({state});
  }
  int64_t digest = (kStateBytes - rate) / 2;
  result.push_back(digest);
  return state.bitcast(dtypes::uint8)
      .shrink({std::nullopt, std::pair<Sint, Sint>{0, digest}})
      .reshape(result);
}

Tensor Tensor::hash() const {
  OperationScope op("hash");
  Tensor data = padToChunks(flatten().bitcast(dtypes::uint8));
  int64_t chunks = data.intNumel() / kChunk;
  int depth = 0;
  for (int64_t reach = 1; reach < chunks; reach *= kChunk / 16) ++depth;
  for (int level = 0; level <= depth; ++level) {
    Tensor leaves = data.reshape({Sint(chunks * 256), 4096}).keccak("shake_128");
    data = padToChunks(leaves.reshape({Sint(chunks), 4096}).keccak("shake_128").flatten());
    chunks = data.intNumel() / kChunk;
  }
  return data.shrink({std::pair<Sint, Sint>{0, 16}});
}

} // namespace uopscope
