// Texts and programs come back as they were, from the reader and from the views in plain SQL, and resembling lines take few
// bytes.
#include "replay/read/text_reader.h"
#include "replay/record/text_writer.h"
#include "replay/schema/schema.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>

using namespace uopscope;
using namespace uopscope::test;

namespace {
struct TextDatabase {
  TextDatabase() : db(Database::create(file.path)) { createTables(db); }
  TempTrace file;
  Database db;
};

std::string viewed(const Database& db, int64_t id) {
  Statement s = db.prepare("SELECT text FROM artifact WHERE id = ?");
  REQUIRE(s.bind(1, id).step());
  return std::string(s.text(0));
}
} // namespace

TEST_CASE("texts come back byte for byte") {
  const std::string texts[] = {
      "",
      "\n",
      "\n\n",
      "a",
      "a\n",
      "7",
      "0",
      "00",
      "007 and 7",
      "12345678",
      "123456789",
      "1234567890123456789012345",
      "x1y2z3\nx4y5z6\nx7y8z9\nx7y8z9\nx10y11z12\n",
      "\"quoted\" and \\back\\ and \t tab \x01\x7f",
      "99999999 0 99999999\n0 99999999 0\n",
      "3.14 0x3FF0000000000000 1e-05 -2",
      "größer 4 ∞ 5\n",
      "  %7 = fadd float %5, %6\n  %8 = fadd float %6, %7\n  %9 = fadd float %7, %8\n"};
  TextDatabase w;
  {
    TextWriter writer(w.db);
    int64_t id = 0;
    for (int round = 0; round < 3; ++round) // again: as repetitions
      for (const std::string& text : texts) writer.add(++id, 1, 1, text, {});
  }
  TextReader reader(w.db);
  for (size_t k = 0; k < 3 * std::size(texts); ++k) {
    const std::string& text = texts[k % std::size(texts)];
    CAPTURE(text);
    const auto id = static_cast<int64_t>(k) + 1;
    CHECK(reader.text(id) == text);
    CHECK(viewed(w.db, id) == text);
    CHECK(reader.lines(id).empty());
  }
  CHECK_FALSE(reader.text(1000));
}

TEST_CASE("bytes that are no text become a text") {
  TextDatabase w;
  TextWriter(w.db).add(1, 1, 1, "a\xff\xfe 5\n", {});
  CHECK(TextReader(w.db).text(1) == "a\xef\xbf\xbd\xef\xbf\xbd 5\n");
}

TEST_CASE("lines and programs come back in order") {
  TextDatabase w;
  std::vector<TextLine> lines, wanted;
  std::vector<int64_t> nodes;
  std::mt19937 random(3);
  for (uint32_t k = 0; k < 500; ++k) {
    lines.push_back({k / 3 + 1, k});
    if (k % 7 == 0)
      lines.push_back({static_cast<uint32_t>(1 + random() % 400), static_cast<uint32_t>(random() % 100000)});
    nodes.push_back(k % 5 ? int64_t{k} * 2 + 1000 : static_cast<int64_t>(1 + random() % 2000000000));
  }
  auto key = [](TextLine l) { return std::pair(l.line, l.instruction); };
  wanted = lines;
  std::ranges::sort(wanted, {}, key);
  wanted.erase(std::ranges::unique(wanted, {}, key).begin(), wanted.end());
  lines.push_back({0, 5}); // no line
  std::ranges::shuffle(lines, random);
  {
    TextWriter writer(w.db);
    writer.add(1, 1, 1, "text", lines);
    writer.addProgram(1, nodes);
    writer.addProgram(2, {});
  }
  TextReader reader(w.db);
  const auto read = reader.lines(1);
  REQUIRE(read.size() == wanted.size());
  Statement s =
      w.db.prepare("SELECT line, instruction FROM text_line WHERE artifact = 1 ORDER BY line, instruction");
  for (size_t k = 0; k < wanted.size(); ++k) {
    CHECK(read[k].line == wanted[k].line);
    CHECK(read[k].instruction == wanted[k].instruction);
    REQUIRE(s.step());
    CHECK(s.integer(0) == wanted[k].line);
    CHECK(s.integer(1) == wanted[k].instruction);
  }
  CHECK(reader.program(1) == nodes);
  CHECK(reader.program(2).empty());
  CHECK(reader.program(3).empty());
  Statement p = w.db.prepare("SELECT node FROM instruction WHERE kernel = 1 ORDER BY position");
  for (int64_t node : nodes) {
    REQUIRE(p.step());
    CHECK(p.integer(0) == node);
  }
}

TEST_CASE("lines that differ in numbers alone take a byte or two") {
  TextDatabase w;
  std::string text;
  for (int k = 1; k <= 10000; ++k)
    text += fmt::format("  %{} = getelementptr inbounds float, ptr %{}, i64 {}\n", 3 * k, 3 * k - 1, 4 * k);
  TextWriter(w.db).add(1, 1, 1, text, {});
  Statement s = w.db.prepare("SELECT length(content), (SELECT count(*) FROM line_form), (SELECT count(*) "
                             "FROM line_repeat) FROM text");
  REQUIRE(s.step());
  CHECK(s.integer(0) < 10100);
  CHECK(s.integer(1) == 2);
  CHECK(s.integer(2) == 1);
  CHECK(TextReader(w.db).text(1) == text);
}
