// libFuzzer: blocks of a corpus are bytes of a file. The first byte chooses the decoder, the next three are the size that
// the file gives; packed bytes come back the same.
//
//   tests/fuzz/run corpus 60
#include "engine/base/error.h"
#include "replay/compare/story_view.h"
#include "replay/record/columns.h"
#include "replay/record/line_codec.h"
#include "replay/record/story_codec.h"
#include "tests/fuzz/targets/finding.h"

#include <array>

using namespace uopscope;

namespace {

constexpr size_t kMost = 1 << 20;

void readColumns(std::string_view bytes) {
  ColumnReader in(bytes, kMost);
  for (size_t k = 0; k < 64; ++k) in.get(k % 8);
}

/// A story as it is stored, and its text forms.
void readStory(std::string_view bytes) {
  std::vector<uint64_t> words;
  PackedStory packed = storyOf(bytes, words);
  packed.words.clear();
  for (uint64_t word : words) packed.words.push_back("w" + std::to_string(word));
  Story story(std::move(packed));
  for (const StoryEvent& e : story.events()) {
    if (e.kind != StoryEvent::PassEnd) story.word(e.word); // which has none
    if (e.kind == StoryEvent::Step) story.expression(e.before, 4), story.expression(e.after, 4);
  }
}

template <typename Pack, typename Unpack>
void packAgain(std::string_view record, Pack pack, Unpack unpack) {
  const std::string packed = pack(std::array{record});
  if (unpack(packed, record.size()) != record)
    fuzz::finding("packed bytes come back changed", std::string(record));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 4, size - 4);
  const size_t unpacked = size_t{data[1]} << 16 | size_t{data[2]} << 8 | data[3];
  try {
    switch (data[0] % 6) {
    case 0: readColumns(bytes); break;
    case 1: readStory(bytes); break;
    case 2: unpackLines(bytes, unpacked); break;
    case 3: unpackStories(bytes, unpacked); break;
    case 4: packAgain(bytes, packLines, unpackLines); break;
    case 5: packAgain(bytes, packStories, unpackStories); break;
    }
  } catch (const Error&) {
  }
  return 0;
}
