// Unpacking returns the packed bytes; bytes that are not packed are refused, whatever size they claim.
#include "replay/schema/database.h"
#include "replay/schema/match_blocks.h"
#include "replay/schema/packing.h"
#include "replay/schema/schema.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

#include <random>

using namespace uopscope;
using namespace uopscope::test;

TEST_CASE("packed bytes come back") {
  Packer packer;
  std::mt19937 random(5);
  for (size_t size : {0, 1, 31, 32, 33, 500, 100000}) {
    for (bool repeats : {false, true}) {
      std::vector<uint8_t> bytes(size);
      for (size_t k = 0; k < size; ++k) bytes[k] = static_cast<uint8_t>(repeats ? k % 7 : random());
      auto packed = packer.pack(bytes);
      CHECK(packed.size() <= size);
      if (repeats && size >= 500) CHECK(packed.size() * 10 < size);
      CHECK(unpack(packed, static_cast<int64_t>(size)) == bytes);
    }
  }
}

TEST_CASE("forged sizes are refused before memory is asked for") {
  Packer packer;
  auto packed = packer.pack(std::string(5000, 'x'));
  for (int64_t size : {int64_t{4999}, int64_t{5001}, INT64_MAX, int64_t{1} << 40})
    CHECK_THROWS_AS(unpack(packed, size), Error);
  const uint8_t junk[] = {0x78, 0x9c, 1, 2, 3};
  CHECK_THROWS_AS(unpack(junk, 100), Error);
  CHECK_THROWS_AS(unpack({}, 100), Error);
}

TEST_CASE("SQL unpacks") {
  TempTrace file;
  Database db = Database::create(file.path);
  db.execute("CREATE TABLE t (size INTEGER, x BLOB)");
  Packer packer;
  const std::string text(300, 'y');
  Statement insert = db.prepare("INSERT INTO t VALUES (?, ?)");
  insert.bind(1, int64_t{300}).bindBlob(2, packer.pack(text)).run();
  Statement s =
      db.prepare("SELECT CAST(sqlar_uncompress(x, size) AS TEXT), sqlar_uncompress(NULL, 0) FROM t");
  REQUIRE(s.step());
  CHECK(s.text(0) == text);
  CHECK(s.isNull(1));
  Statement bad = db.prepare("SELECT sqlar_uncompress(x, 999) FROM t");
  CHECK_THROWS_AS(bad.step(), Error);
}

TEST_CASE("counts of many passes are found by pass, wherever commits fall") {
  std::vector<std::string> rows[2];
  for (bool often : {false, true}) {
    TempTrace file;
    Database db = Database::create(file.path);
    createTables(db);
    MatchBlockWriter out(db);
    for (int64_t pass = 1; pass <= 400; pass += 2) {
      MatchCounts counts;
      for (uint32_t rule = 1; rule < 40; ++rule) {
        MatchCell cell;
        cell.count[rule % kMatchOutcomes] = static_cast<uint64_t>(pass) * rule;
        if (rule % 9 == 0) cell.ns[1] = often ? 5 : 500000; // times do not move the borders of rows
        counts.add(rule, rule % 3, cell);
      }
      out.add(pass, 0, counts);
      out.add(pass, 7, counts);
      if (often) out.flush();
    }
    out.flush();
    for (Statement s =
             db.prepare("SELECT pass, nested, op, cells FROM match_pass JOIN match_set ON match_set.id = "
                        "attempts, json_each(groups) AS part JOIN match_group ON match_group.id = part.value "
                        "UNION ALL SELECT first, last, 0, '' FROM packed_time ORDER BY 1, 2, 3");
         s.step();)
      rows[often].push_back(std::to_string(s.integer(0)) + " " + std::to_string(s.integer(1)) + " " +
                            std::to_string(s.integer(2)) + std::string(s.text(3)));
    CHECK(rows[often].size() > 2);
    for (int64_t pass : {1, 199, 399, 200}) {
      uint64_t sums = 0, total = 0;
      for (MatchBlockReader in(db, pass, pass); in.next(); ++sums) {
        CHECK(in.pass() == pass);
        in.decode([&](uint32_t, uint32_t, const MatchCell& cell) {
          for (uint64_t c : cell.count) total += c;
        });
      }
      CHECK(sums == (pass % 2 ? 2 : 0));
      CHECK(total == (pass % 2 ? 2 * 780 * static_cast<uint64_t>(pass) : 0));
    }
  }
  CHECK(rows[0] == rows[1]);
}
