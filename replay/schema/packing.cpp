// One deflate state is kept and reset, since a new one costs more than compressing a kilobyte. The unpacked
// size is bounded by zlib's largest ratio, so a forged size allocates no memory.
#include "replay/schema/packing.h"

#include "engine/base/error.h"
#include "replay/schema/reading_guard.h"

#include <sqlite3.h>
#include <zlib.h>

#include <new>
#include <utility>

namespace uopscope {

namespace {
constexpr int kLevel = 6, kHastyLevel = 1;
constexpr int64_t kMostRatio = 1032; ///< largest ratio of deflate
} // namespace

struct Packer::State {
  z_stream stream{};
  std::vector<uint8_t> out;
  Care care = Care::Good;
  State() {
    if (deflateInit(&stream, kLevel) != Z_OK) throw std::bad_alloc();
  }
  ~State() { deflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Packer::Packer() : state_(std::make_unique<State>()) {}
Packer::~Packer() = default;
Packer::Packer(Packer&&) noexcept = default;

std::span<const uint8_t> Packer::pack(std::span<const uint8_t> bytes, Care care) {
  constexpr size_t kWorthIt = 32;
  if (bytes.size() < kWorthIt) return bytes;
  z_stream& z = state_->stream;
  deflateReset(&z);
  if (std::exchange(state_->care, care) != care)
    deflateParams(&z, care == Care::Good ? kLevel : kHastyLevel, Z_DEFAULT_STRATEGY);
  state_->out.resize(bytes.size());
  z.next_in = const_cast<Bytef*>(bytes.data());
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = state_->out.data();
  z.avail_out = static_cast<uInt>(bytes.size() - 1); // a result that does not fit is not worth it
  if (deflate(&z, Z_FINISH) != Z_STREAM_END) return bytes;
  return std::span<const uint8_t>(state_->out).first(z.total_out);
}

std::span<const uint8_t> Packer::pack(std::string_view text, Care care) {
  return pack(std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()), care);
}

std::vector<uint8_t> unpack(std::span<const uint8_t> packed, int64_t size) {
  auto length = static_cast<int64_t>(packed.size());
  if (size == length || size <= 0) return {packed.begin(), packed.end()};
  if (size / kMostRatio > length || size > kMostValueBytes)
    throw Error(ErrorKind::File, "a packed value has a size that is not possible; the file is damaged");
  std::vector<uint8_t> out(static_cast<size_t>(size));
  auto made = static_cast<uLongf>(size);
  if (uncompress(out.data(), &made, packed.data(), static_cast<uLong>(packed.size())) != Z_OK ||
      made != static_cast<uLongf>(size))
    throw Error(ErrorKind::File, "a packed value cannot be unpacked; the file is damaged");
  return out;
}

namespace {
void unpackFunction(sqlite3_context* context, int, sqlite3_value** values) {
  const auto* data = static_cast<const uint8_t*>(sqlite3_value_blob(values[0]));
  auto length = static_cast<size_t>(sqlite3_value_bytes(values[0]));
  int64_t size = sqlite3_value_int64(values[1]);
  if (size <= 0 || size == static_cast<int64_t>(length)) {
    sqlite3_result_value(context, values[0]);
    return;
  }
  try {
    std::vector<uint8_t> out = unpack({data, data ? length : 0}, size);
    sqlite3_result_blob64(context, out.data(), out.size(), SQLITE_TRANSIENT);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  } catch (const std::exception& e) {
    sqlite3_result_error(context, e.what(), -1);
  }
}
} // namespace

void addUnpackFunction(sqlite3* db) {
  sqlite3_create_function(db, "sqlar_uncompress", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                          nullptr, unpackFunction, nullptr, nullptr);
}

} // namespace uopscope
