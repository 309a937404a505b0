// Texts of a trace as it stores them: those of one kind share packed blocks, since kernels resemble each
// other.
//
//   TextBlockWriter texts(db);
//   texts.add(id, scope, kind, "void r_4() {}", "[[0]]");   // lines: JSON, or empty
//   texts.flush();                                          // before every commit
//   texts.finish();                                         // before the last one
#pragma once
#include "replay/schema/database.h"
#include "replay/schema/packing.h"

#include <map>

namespace uopscope {

class TextBlockWriter {
public:
  explicit TextBlockWriter(const Database& db);
  /// `scope` 0: none; `kind` is a string.id.
  void add(int64_t id, int64_t scope, int64_t kind, std::string_view text, std::string_view lines);
  /// Writes the blocks that are being filled, which go on being filled. Where blocks begin does not depend on
  /// when.
  void flush();
  /// Writes them as they stay.
  void finish();

private:
  struct Block {
    int64_t id = 0;
    std::string texts, lines;
    bool written = true;
  };
  void write(Block& block, Packer::Care care);
  Statement insertText_, insertBlock_;
  Packer packer_, linesPacker_;
  std::map<int64_t, Block> open_; ///< by kind
  int64_t blocks_ = 0;
};

} // namespace uopscope
