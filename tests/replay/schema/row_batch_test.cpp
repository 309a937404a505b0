// Rows that wait for their batch are stored in order, with NULLs, whatever their number.
#include "replay/schema/row_batch.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

using namespace uopscope;

TEST_CASE("a batch of rows stores every row in order") {
  test::TempTrace file;
  Database db = Database::create(file.path);
  db.execute("CREATE TABLE pair (id INTEGER PRIMARY KEY, value INTEGER)");
  RowBatch rows(db, "pair", {"id", "value"});
  for (int64_t count : {1, 31, 32, 33, 100}) {
    db.execute("DELETE FROM pair");
    for (int64_t i = 1; i <= count; ++i) rows.add({i, i % 3 ? RowBatch::Value(-i) : std::nullopt});
    rows.flush();
    Statement all = db.prepare("SELECT id, value FROM pair ORDER BY id");
    int64_t found = 0;
    while (all.step()) {
      ++found;
      CHECK(all.integer(0) == found);
      CHECK(all.isNull(1) == (found % 3 == 0));
      if (found % 3) CHECK(all.integer(1) == -found);
    }
    CHECK(found == count);
  }
  CHECK_THROWS_WITH_AS(rows.add({1}), doctest::Contains("1 values for 2 columns"), Error);
}
