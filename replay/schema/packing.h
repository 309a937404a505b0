// Packs values of a trace: compressed by zlib where that makes them smaller, otherwise unchanged; the length
// tells which. `sqlar_uncompress(X, size)` of the sqlite3 program takes this form, so traces can be read
// without uopscope.
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
  /// Haste takes half the time and half as many bytes again; it is for bytes that will be packed again.
  enum class Care : uint8_t { Haste, Good };
  /// Returns the packed bytes: the argument itself, or bytes of the packer that stay valid until the next
  /// call.
  std::span<const uint8_t> pack(std::span<const uint8_t> bytes, Care care = Care::Good);
  std::span<const uint8_t> pack(std::string_view text, Care care = Care::Good);

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Unpacks to an expected `size` of bytes. Throws Error(File) for bytes that are not packed.
std::vector<uint8_t> unpack(std::span<const uint8_t> packed, int64_t size);

/// Defines sqlar_uncompress() on this connection; views of a trace may call it.
void addUnpackFunction(sqlite3* db);

} // namespace uopscope
