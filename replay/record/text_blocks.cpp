// A block is closed at 256 kilobytes: eight times the window of zlib, and small enough to unpack for one text
// in a millisecond. Every commit also writes the block that is being filled; it gets a fast compression until
// it is closed.
#include "replay/record/text_blocks.h"

namespace uopscope {

namespace {
constexpr size_t kBlockBytes = 256 << 10;
} // namespace

TextBlockWriter::TextBlockWriter(const Database& db)
    : insertText_(db.prepare("INSERT INTO text (id, scope, kind, block, at, size, lines_at, lines_size) "
                             "VALUES (?, ?, ?, ?, ?, ?, ?, ?)")),
      insertBlock_(db.prepare("INSERT OR REPLACE INTO text_block (id, size, texts, lines_size, lines) VALUES "
                              "(?, ?, ?, ?, ?)")) {}

void TextBlockWriter::add(int64_t id, int64_t scope, int64_t kind, std::string_view text,
                          std::string_view lines) {
  Block& block = open_[kind];
  if (!block.id) block.id = ++blocks_;
  insertText_.bind(1, id).bindId(2, scope).bind(3, kind).bind(4, block.id);
  insertText_.bind(5, static_cast<int64_t>(block.texts.size())).bind(6, static_cast<int64_t>(text.size()));
  insertText_.bind(7, static_cast<int64_t>(block.lines.size())).bind(8, static_cast<int64_t>(lines.size()));
  insertText_.run();
  block.texts += text;
  block.lines += lines;
  block.written = false;
  if (block.texts.size() < kBlockBytes) return;
  write(block, Packer::Care::Good);
  block = {};
}

void TextBlockWriter::write(Block& block, Packer::Care care) {
  insertBlock_.bind(1, block.id).bind(2, static_cast<int64_t>(block.texts.size()));
  insertBlock_.bindBlob(3, packer_.pack(block.texts, care));
  insertBlock_.bind(4, static_cast<int64_t>(block.lines.size()))
      .bindBlob(5, linesPacker_.pack(block.lines, care));
  insertBlock_.run();
  block.written = true;
}

void TextBlockWriter::flush() {
  for (auto& [kind, block] : open_)
    if (!block.written) write(block, Packer::Care::Haste);
}

void TextBlockWriter::finish() {
  for (auto& [kind, block] : open_) write(block, Packer::Care::Good);
}

} // namespace uopscope
