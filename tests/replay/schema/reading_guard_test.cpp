// A file opened for reading can only be read, whatever a statement or a view of the file contains.
#include "replay/read/link.h"
#include "replay/read/sql.h"
#include "replay/schema/packing.h"
#include "replay/schema/schema.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

TEST_CASE("a connection that reads does nothing else") {
  TempTrace file;
  recordTo(file.path, [] {});
  Database db = openTrace(file.path);
  for (const char* sql :
       {"ATTACH 'other.db' AS other", "CREATE TABLE t (x)", "DELETE FROM step", "UPDATE meta SET value = ''",
        "INSERT INTO meta VALUES ('a', 'b')", "DROP TABLE step", "PRAGMA writable_schema = ON",
        "PRAGMA trusted_schema = ON", "PRAGMA journal_mode = DELETE",
        "CREATE TEMP TRIGGER t AFTER INSERT ON step BEGIN SELECT 1; END", "VACUUM",
        "CREATE VIRTUAL TABLE temp.v USING dbstat", "SELECT load_extension('x')"}) {
    CAPTURE(sql);
    CHECK_THROWS_AS(db.execute(sql), Error);
  }
  for (const char* sql : {"SELECT count(*) FROM v_node", "SELECT count(*) FROM pragma_table_info('step')",
                          "PRAGMA data_version", "SELECT count(*) FROM json_each('[1]')"}) {
    CAPTURE(sql);
    CHECK_NOTHROW(db.execute(sql));
  }
}

TEST_CASE("a query of a person leaves the connection guarded") {
  TempTrace file;
  recordTo(file.path, [] {});
  Trace trace(file.path);
  CHECK(query(trace, "SELECT count(*) FROM dbstat").rows.size() == 1);
  CHECK_THROWS_AS(query(trace, "CREATE TEMP TABLE t (x)"), Error);
  CHECK_THROWS_AS(trace.database().execute("ATTACH 'other.db' AS other"), Error);
}

TEST_CASE("values larger than anything recorded are refused before memory is asked for") {
  const std::vector<uint8_t> packed(1 << 20);
  CHECK_THROWS_AS(unpack(packed, int64_t{900} << 20), Error); // zlib could make it from a megabyte
  TempTrace file;
  recordTo(file.path, [] {});
  Database db = openTrace(file.path);
  CHECK_THROWS_AS(db.execute("SELECT zeroblob(1000000000)"), Error);
}

TEST_CASE("a link names nodes that can be") {
  CHECK(Link::parse("node=7").node == NodeId{7});
  CHECK_THROWS_AS(Link::parse("node=4294967297"), Error); // 1, cut to 32 bits
  CHECK_THROWS_AS(Link::parse("node=99999999999999999999"), Error);
}
