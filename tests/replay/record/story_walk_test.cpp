// Stories by the walks of their passes: what follows from a walk is not told, and a story that went another way comes back too.
#include "engine/base/error.h"
#include "replay/record/columns.h"
#include "replay/record/story_codec.h"
#include "replay/record/story_walk.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <initializer_list>

using namespace uopscope;

namespace {
/// A story written by hand: nodes with their sources, and events in between.
struct Written {
  std::string nodes, events;
  uint32_t count = 0;

  uint32_t node(uint64_t kind, std::initializer_list<uint32_t> sources = {}) {
    ++count;
    putVarint(nodes, kind);
    putVarint(nodes, sources.size());
    for (uint32_t s : sources) putVarint(nodes, count - s);
    return count;
  }
  void event(StoryEvent::Kind kind, uint64_t word, uint32_t node) {
    putVarint(events, word << 2 | kind);
    putVarint(events, node);
  }
  void step(uint64_t rule, uint32_t before, uint32_t after) {
    event(StoryEvent::Step, rule, before);
    putVarint(events, after);
  }
  std::string record(std::initializer_list<uint64_t> words, uint32_t root) {
    const std::vector<uint64_t> list(words);
    PackedStory story;
    story.nodes = nodes, story.events = events, story.root = root;
    return storyRecord(story, list);
  }
};

enum Word : uint64_t { kLeaf, kUser, kPass, kRule, kOther, kWords };
constexpr std::initializer_list<uint64_t> kList{11, 12, 13, 14, 15};

std::string packedAndBack(const std::string& record) {
  const std::string packed = packStories(std::array<std::string_view, 1>{record});
  CHECK(unpackStories(packed, record.size()) == record);
  return packed;
}

/// A chain of users whose leaf a rule replaces: every user comes again, as it was but for its source, or with the leaf beside.
std::string chain(uint32_t length, bool endsAsWalked) {
  Written w;
  const uint32_t leaf = w.node(kLeaf);
  uint32_t root = leaf;
  for (uint32_t k = 0; k < length; ++k) root = w.node(kUser, {root});
  w.event(StoryEvent::PassBegin, kPass, root);
  const uint32_t other = w.node(kOther);
  w.step(kRule, leaf, other);
  uint32_t end = other;
  for (uint32_t k = 0; k < length; ++k)
    end = endsAsWalked ? w.node(kUser, {end}) : w.node(kUser, {end, leaf});
  w.event(StoryEvent::PassEnd, 0, end);
  return w.record({11, 12, 13, 14, 15}, root);
}
} // namespace

TEST_CASE("nodes that follow from the walk of a pass are not told") {
  const std::string shorter = chain(40, true), longer = chain(4000, true);
  // LZMA takes some bytes for 4,000 nodes that are as expected, and none for those that follow.
  CHECK(packedAndBack(longer).size() < packedAndBack(shorter).size() + 40);
  CHECK(packedAndBack(longer).size() + 20 < packedAndBack(chain(4000, false)).size());
}

TEST_CASE("a walk comes to nodes as the engine does") {
  StoryModel model;
  model.beginStory();
  auto add = [&](uint32_t kind, std::initializer_list<uint32_t> src) {
    model.append(kind, std::vector<uint32_t>(src), true);
    return model.count();
  };
  const uint32_t a = add(1, {}), b = add(2, {}), left = add(3, {a}), right = add(4, {a, b}),
                 top = add(5, {left, right});
  uint64_t budget = 1000;
  StoryWalk walk(model);
  std::vector<uint32_t> kinds;
  walk.begin(top, StoryWalk::Way::Up, budget);
  while (walk.next()) kinds.push_back(walk.kind());
  CHECK(kinds == std::vector<uint32_t>{1, 3, 2, 4, 5});
  walk.begin(top, StoryWalk::Way::Down, budget);
  for (kinds.clear(); walk.next();) kinds.push_back(walk.kind());
  CHECK(kinds == std::vector<uint32_t>{5, 3, 1, 4, 2});

  // The rule's result is walked, then both users of a are made again; they are told with the top.
  walk.begin(top, StoryWalk::Way::Up, budget);
  REQUIRE(walk.next());
  const uint32_t other = add(6, {b});
  walk.rewritten(other);
  for (kinds.clear(); walk.next();) kinds.push_back(walk.kind());
  CHECK(kinds == std::vector<uint32_t>{2, 6, 3, 4, 5});
  walk.gather();
  REQUIRE(walk.fresh().size() == 3);
  CHECK(walk.gathered() == model.count() + 3);
  CHECK(std::ranges::equal(walk.src(walk.fresh()[0]), std::array{other}));
  CHECK(std::ranges::equal(walk.src(walk.fresh()[1]), std::array{other, b}));
  CHECK(std::ranges::equal(walk.src(walk.fresh()[2]), std::array{other + 1, other + 2}));

  // Without a budget a walk ends at once.
  budget = 3;
  walk.begin(top, StoryWalk::Way::Up, budget);
  for (kinds.clear(); walk.next();) kinds.push_back(walk.kind());
  CHECK(kinds.size() < 5);
  CHECK_FALSE(walk.isAlive());
}

TEST_CASE("a place beyond the end of a walk is damage") {
  const std::string record = chain(8, true), packed = packStories(std::array<std::string_view, 1>{record});
  constexpr uint64_t kNew = 128, kWalk = 58; // the number of columns is kNew more; the column of places
  std::string damaged;
  size_t at = 0;
  const uint64_t columns = getVarint(packed, at) - kNew;
  REQUIRE(columns == 60);
  putVarint(damaged, columns + kNew);
  for (uint64_t k = 0; k < columns; ++k) {
    uint64_t size = getVarint(packed, at), bytes = getVarint(packed, at);
    std::string column = packed.substr(at, bytes);
    at += bytes;
    if (k == kWalk) {
      column.clear();
      putVarint(column, uint64_t{1} << 40);
      size = bytes = column.size(); // as it is
    }
    putVarint(damaged, size);
    putVarint(damaged, bytes);
    damaged += column;
  }
  CHECK_THROWS_AS(unpackStories(damaged, record.size()), Error);
}

TEST_CASE("a story that no walk makes comes back") {
  SUBCASE("rewrites in another order, and of nodes outside of the graph") {
    Written w;
    const uint32_t leaf = w.node(kLeaf), user = w.node(kUser, {leaf});
    w.event(StoryEvent::PassBegin, kPass, user);
    w.step(kRule, w.node(kOther, {user}), leaf);
    w.step(kRule, user, leaf);
    w.step(kRule, leaf, user); // an endless loop, for the engine
    w.event(StoryEvent::PassEnd, 0, w.node(kUser, {leaf, leaf}));
    packedAndBack(w.record(kList, user));
  }
  SUBCASE("passes in passes, passes without an end, ends without a pass, and nothing at all") {
    Written w;
    const uint32_t leaf = w.node(kLeaf), user = w.node(kUser, {leaf});
    w.event(StoryEvent::PassEnd, 0, user);
    for (int k = 0; k < 9; ++k) w.event(StoryEvent::PassBegin, kPass, user);
    w.step(kRule, leaf, w.node(kOther));
    w.step(kRule, 0, 0);
    for (int k = 0; k < 6; ++k) w.event(StoryEvent::PassEnd, 0, w.node(kUser, {w.count}));
    w.event(StoryEvent::PassBegin, kPass, 0);
    w.event(StoryEvent::PassEnd, 0, 0);
    w.event(StoryEvent::Error, kRule, user);
    packedAndBack(w.record(kList, user));
  }
}
