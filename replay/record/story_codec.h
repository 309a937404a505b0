// Packs the stories of many compilations together: story_model.h says what repeats in them.
//
//   std::string packed = packStories({record, record});      // records of storyRecord()
//   unpackStories(packed, size)                              // all of them in a row, byte by byte the same
//
// A record that is no story is kept as it is.
#pragma once
#include "replay/record/story.h"

namespace uopscope {

/// A story in one piece: its words by the numbers a corpus gives them, its root, its nodes and events.
std::string storyRecord(const PackedStory& story, std::span<const uint64_t> words);
/// The inverse. Error for a record that ends early.
PackedStory storyOf(std::string_view record, std::vector<uint64_t>& words);

std::string packStories(std::span<const std::string_view> records);
/// Error(File) for bytes that are no packed stories, or stories of another size.
std::string unpackStories(std::string_view packed, size_t size);

} // namespace uopscope
