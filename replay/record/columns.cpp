// The number of columns, then for each its size, its size as a frame, and the frame.
#include "replay/record/columns.h"

#include "engine/base/error.h"
#include "replay/record/story.h"

#include <fmt/format.h>
#include <zstd.h>

namespace uopscope {

namespace {
/// Between 12 and 19 the columns of a corpus shrink by a twelfth and take four times as long.
constexpr int kLevel = 15;
constexpr size_t kMostColumns = 64;
} // namespace

void damagedBlock() {
  throw Error(ErrorKind::File, "a block of the corpus cannot be unpacked; the file is damaged");
}

void ColumnWriter::put(size_t column, uint64_t value) {
  putVarint(columns_[column], value);
}

std::string ColumnWriter::packed() const {
  std::string out;
  putVarint(out, columns_.size());
  for (const std::string& column : columns_) {
    std::string frame(ZSTD_compressBound(column.size()), '\0');
    const size_t size = ZSTD_compress(frame.data(), frame.size(), column.data(), column.size(), kLevel);
    if (ZSTD_isError(size))
      throw Error(ErrorKind::Runtime, fmt::format("compression failed: {}", ZSTD_getErrorName(size)));
    putVarint(out, column.size());
    putVarint(out, size);
    out.append(frame, 0, size);
  }
  return out;
}

ColumnReader::ColumnReader(std::string_view packed, size_t most) {
  size_t at = 0;
  const uint64_t count = getVarint(packed, at);
  if (count > kMostColumns) damagedBlock();
  for (uint64_t k = 0; k < count; ++k) {
    const uint64_t size = getVarint(packed, at), frame = getVarint(packed, at);
    if (size > most || frame > packed.size() - at) damagedBlock();
    most -= size;
    Column& column = columns_.emplace_back();
    column.bytes.resize(size);
    const size_t made = ZSTD_decompress(column.bytes.data(), size, packed.data() + at, frame);
    if (ZSTD_isError(made) || made != size) damagedBlock();
    at += frame;
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
