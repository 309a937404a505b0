// Numbers and texts of many records, by column: what stands in one column is alike, so it packs well. A column is packed by
// LZMA, which takes a seventh less for these short numbers than zstd; earlier builds wrote zstd frames, which are read as well.
//
//   ColumnWriter out(2);   out.put(0, 7);  out.text(1, "abc");  std::string packed = out.packed();
//   ColumnReader in(packed, 1 << 20);      in.get(0) == 7;      in.text(1, 3) == "abc";
//
// A reader never holds more than its limit, and reading past the end throws Error(File).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace uopscope {

class ColumnWriter {
public:
  explicit ColumnWriter(size_t columns) : columns_(columns) {}
  void put(size_t column, uint64_t value);
  void text(size_t column, std::string_view text) { columns_[column] += text; }
  std::string packed() const;

private:
  std::vector<std::string> columns_;
};

class ColumnReader {
public:
  /// `most`: bytes of all columns together, unpacked.
  ColumnReader(std::string_view packed, size_t most);
  /// Whether an earlier build packed it, one that wrote zstd frames.
  bool isOld() const { return old_; }
  size_t columns() const { return columns_.size(); }
  uint64_t get(size_t column) {
    if (column < columns_.size()) {
      Column& from = columns_[column];
      if (from.at < from.bytes.size())
        if (const auto byte = static_cast<uint8_t>(from.bytes[from.at]); byte < 128) return ++from.at, byte;
    }
    return getLong(column);
  }
  std::string_view text(size_t column, uint64_t size);

private:
  struct Column {
    std::string bytes;
    size_t at = 0;
  };
  uint64_t getLong(size_t column);
  std::vector<Column> columns_;
  bool old_ = false;
};

/// Throws Error(File): the bytes of a block are not those that a writer makes.
[[noreturn]] void damagedBlock();

} // namespace uopscope
