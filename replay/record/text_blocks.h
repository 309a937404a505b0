// Stores the texts of a trace. Texts of one kind share packed blocks, since kernels resemble each other.
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
  /// `scope` 0: the text belongs to no scope; `kind` is a string.id.
  void add(int64_t id, int64_t scope, int64_t kind, std::string_view text, std::string_view lines);
  /// Writes the blocks that are being filled and goes on filling them. The moment of a flush does not move
  /// the borders of blocks.
  void flush();
  /// Writes all blocks in their final form.
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
