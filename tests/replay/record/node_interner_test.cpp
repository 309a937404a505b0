// Ids of nodes: equal nodes have one id, whichever pools make them, and however the pools take turns.
#include "replay/record/node_interner.h"
#include "replay/schema/schema.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {
/// ((0 + 1) + 2) + ...: the sums, each a node of the next one.
std::vector<UOp> sums(Pool& pool, int64_t count) {
  PoolScope scope(pool);
  std::vector<UOp> all{UOp::constant(dtypes::int32, int64_t{0})};
  for (int64_t k = 1; k < count; ++k) all.push_back(all.back() + UOp::constant(dtypes::int32, k));
  return all;
}
} // namespace

TEST_CASE("equal nodes of two pools have one id") {
  constexpr int64_t kSums = 300; // more than wait for their place in the table
  TempTrace file;
  Database db = Database::create(file.path);
  createTables(db);
  NodeInterner nodes(db);
  Pool a, b, c;
  const auto first = sums(a, kSums), second = sums(b, kSums), third = sums(c, kSums);
  const uint32_t root = nodes.intern(first.back().node()), count = nodes.count();
  CHECK(count == 2 * kSums - 1);
  for (size_t k = 0; k < kSums;
       ++k) // in turns: the second pool meets each node right after it was new, or later
    CHECK(nodes.intern(second[k].node()) == nodes.intern(first[k].node()));
  CHECK(nodes.intern(third.back().node()) == root);
  CHECK(nodes.count() == count);

  PoolScope scope(a);
  const uint32_t fresh = nodes.intern((first.back() * first[1]).node());
  PoolScope other(b);
  CHECK(nodes.intern((second.back() * second[1]).node()) == fresh); // still on its way to the table
  CHECK(nodes.count() == count + 1);
}
