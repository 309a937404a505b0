// Packed values of a trace: zlib's compression where it makes them smaller, else as they are, told apart by
// their length. It is the form that `sqlar_uncompress(X, size)` of the sqlite3 program takes, so traces can
// be read without us.
//
//   Packer packer;
//   insert.bind(1, int64_t(text.size())).bindBlob(2, packer.pack(text));   // valid until the next pack()
//   std::vector<uint8_t> text = unpack(s.blob(1), s.integer(0));
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

struct sqlite3;

namespace uopscope {

class Packer {
public:
  Packer();
  ~Packer();
  Packer(Packer&&) noexcept;
  /// Haste takes half the time and half as many bytes again: for what will be packed anew.
  enum class Care : uint8_t { Haste, Good };
  /// The packed bytes: these themselves, or some of the packer's that hold until the next call.
  std::span<const uint8_t> pack(std::span<const uint8_t> bytes, Care care = Care::Good);
  std::span<const uint8_t> pack(std::string_view text, Care care = Care::Good);

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What was packed, of which `size` bytes are expected. Error(File) where the bytes are no such thing.
std::vector<uint8_t> unpack(std::span<const uint8_t> packed, int64_t size);

/// Makes sqlar_uncompress() a function of this connection; views of a trace may call it.
void addUnpackFunction(sqlite3* db);

} // namespace uopscope
