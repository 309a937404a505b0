// The number of columns and kNew, then for each its size, its packed size, and the packed bytes: LZMA without a head, or the
// bytes as they are where the sizes are equal. Earlier builds wrote the number alone, and zstd frames.
#include "replay/record/columns.h"

#include "engine/base/error.h"
#include "replay/record/story.h"

#include <fmt/format.h>
#include <lzma.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

namespace uopscope {

namespace {
constexpr size_t kMostColumns = 64;
constexpr uint64_t kNew = 128; ///< added to the number of columns

/// The filter of LZMA for a column of so many bytes, as it is part of the format. More effort than this makes columns smaller by
/// a hundredth; a dictionary larger than the column only takes time to make.
class LzmaFilter {
public:
  explicit LzmaFilter(size_t bytes) : options_(optionsFor(bytes)) {}
  const lzma_filter* get() const { return filters_; }

private:
  static lzma_options_lzma optionsFor(size_t bytes) {
    constexpr size_t kLeast = LZMA_DICT_SIZE_MIN, kMost = 4 << 20;
    lzma_options_lzma options;
    std::memset(&options, 0, sizeof options);
    lzma_lzma_preset(&options, 6);
    options.dict_size = static_cast<uint32_t>(std::clamp(bytes, kLeast, kMost));
    options.lc = 3, options.lp = 0, options.pb = 0;
    return options;
  }

  lzma_options_lzma options_;
  lzma_filter filters_[2] = {{LZMA_FILTER_LZMA1, &options_}, {LZMA_VLI_UNKNOWN, nullptr}};
};

const uint8_t* bytesOf(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

std::string pack(const std::string& column) {
  std::string out(column.size(), '\0');
  size_t size = 0;
  const lzma_ret made =
      lzma_raw_buffer_encode(LzmaFilter(column.size()).get(), nullptr, bytesOf(column), column.size(),
                             reinterpret_cast<uint8_t*>(out.data()), &size, out.size());
  if (made == LZMA_BUF_ERROR || size == column.size()) return column; // no smaller than it is
  if (made != LZMA_OK)
    throw Error(ErrorKind::Runtime, fmt::format("compression failed: LZMA, {}", static_cast<int>(made)));
  out.resize(size);
  return out;
}

bool unpack(std::string_view packed, std::string& column, bool old) {
  if (old) {
    const size_t made = ZSTD_decompress(column.data(), column.size(), packed.data(), packed.size());
    return !ZSTD_isError(made) && made == column.size();
  }
  if (packed.size() == column.size()) {
    column = packed;
    return true;
  }
  size_t at = 0, made = 0;
  const lzma_ret done =
      lzma_raw_buffer_decode(LzmaFilter(column.size()).get(), nullptr, bytesOf(packed), &at, packed.size(),
                             reinterpret_cast<uint8_t*>(column.data()), &made, column.size());
  return done == LZMA_OK && made == column.size();
}
} // namespace

void damagedBlock() {
  throw Error(ErrorKind::File, "a block of the corpus cannot be unpacked; the file is damaged");
}

void ColumnWriter::put(size_t column, uint64_t value) {
  putVarint(columns_[column], value);
}

std::string ColumnWriter::packed() const {
  std::string out;
  putVarint(out, columns_.size() + kNew);
  for (const std::string& column : columns_) {
    const std::string bytes = pack(column);
    putVarint(out, column.size());
    putVarint(out, bytes.size());
    out += bytes;
  }
  return out;
}

ColumnReader::ColumnReader(std::string_view packed, size_t most) {
  size_t at = 0;
  uint64_t count = getVarint(packed, at);
  old_ = count < kNew;
  if (!old_) count -= kNew;
  if (count > kMostColumns) damagedBlock();
  for (uint64_t k = 0; k < count; ++k) {
    const uint64_t size = getVarint(packed, at), bytes = getVarint(packed, at);
    if (size > most || bytes > packed.size() - at) damagedBlock();
    most -= size;
    Column& column = columns_.emplace_back();
    column.bytes.resize(size);
    if (!unpack(packed.substr(at, bytes), column.bytes, old_)) damagedBlock();
    at += bytes;
  }
}

uint64_t ColumnReader::getLong(size_t column) {
  if (column >= columns_.size()) damagedBlock();
  return getVarint(columns_[column].bytes, columns_[column].at);
}

std::string_view ColumnReader::text(size_t column, uint64_t size) {
  if (column >= columns_.size() || size > columns_[column].bytes.size() - columns_[column].at) damagedBlock();
  Column& from = columns_[column];
  from.at += size;
  return std::string_view(from.bytes).substr(from.at - size, size);
}

} // namespace uopscope
