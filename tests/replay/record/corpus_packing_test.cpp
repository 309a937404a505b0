// Packed corpora: stories and texts come back byte by byte, packing in several goes loses nothing, files of version 1 are read and
// added to, and no block does more than fail.
#include "engine/runtime/kernel_cache.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/tensor.h"
#include "replay/record/columns.h"
#include "replay/record/corpus.h"
#include "replay/record/line_codec.h"
#include "replay/record/story_codec.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <fstream>
#include <map>
#include <random>

using namespace uopscope;
using namespace uopscope::test;

namespace {
std::vector<Compilation> compiled() {
  std::vector<Compilation> all;
  CaptureObserver observer([&](Compilation c) {
    all.push_back(std::move(c));
    return true;
  });
  ObserverScope scope(&observer);
  clearKernelCache();
  clearScheduleCache();
  Tensor a = Tensor::arange(24).reshape({4, 6}).cast(dtypes::float32).contiguous().realize();
  Tensor b = (a * 2.0 + 1.0).sum(std::vector<int64_t>{1}).realize();
  Tensor c = a.matmul(a.transpose()).softmax().realize();
  return all;
}

std::vector<std::string> recordsOf(const std::vector<Compilation>& all) {
  std::map<std::string, uint64_t> numbers;
  std::vector<std::string> records;
  for (const Compilation& c : all) {
    std::vector<uint64_t> words;
    for (const std::string& w : c.story.words)
      words.push_back(numbers.try_emplace(w, numbers.size() + 1).first->second);
    records.push_back(storyRecord(c.story, words));
  }
  return records;
}

int64_t residentBytes() {
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

std::string joined(const std::vector<std::string_view>& records) {
  return fmt::format("{}", fmt::join(records, ""));
}

constexpr uint64_t kNew = 128; ///< in the number of columns: they are packed by LZMA

std::string oneColumn(uint64_t size, std::string_view packed) {
  std::string out;
  putVarint(out, kNew + 1);
  putVarint(out, size);
  putVarint(out, packed.size());
  return out.append(packed);
}

/// Packed columns with changes inside, where a reader gets to them.
std::string damagedInside(std::string_view packed, std::mt19937& random) {
  std::string out;
  size_t at = 0;
  const uint64_t count = getVarint(packed, at);
  putVarint(out, count);
  const uint64_t chosen = random() % (count - kNew);
  for (uint64_t k = 0; k < count - kNew; ++k) {
    const uint64_t size = getVarint(packed, at), frame = getVarint(packed, at);
    std::string column(size, '\0');
    const size_t start = at;
    at += frame;
    if (k != chosen) {
      putVarint(out, size);
      putVarint(out, frame);
      out += packed.substr(start, frame);
      continue;
    }
    if (column.size() == frame) {
      column = packed.substr(start, frame);
    } else {
      ColumnReader one(oneColumn(size, packed.substr(start, frame)), size);
      column = one.text(0, size);
    }
    if (column.empty() || random() % 4 == 0)
      column.append(1 + random() % 9, static_cast<char>(random()));
    else if (random() % 4 == 0)
      column.resize(random() % column.size());
    else
      for (int flips = 0; flips < 3; ++flips) column[random() % column.size()] = static_cast<char>(random());
    putVarint(out, column.size());
    putVarint(out, column.size()); // as it is
    out += column;
  }
  return out;
}

void checkSame(const Compilation& a, const Compilation& b) {
  CHECK(a.graph == b.graph);
  CHECK(a.source == b.source);
  CHECK(a.ir == b.ir);
  CHECK(a.launch == b.launch);
  CHECK(a.opts == b.opts);
  CHECK(a.story.words == b.story.words);
  CHECK(a.story.nodes == b.story.nodes);
  CHECK(a.story.events == b.story.events);
  CHECK(a.story.root == b.story.root);
}
} // namespace

TEST_CASE("stories come back byte by byte, in half their bytes") {
  const std::vector<std::string> records = recordsOf(compiled());
  REQUIRE(records.size() >= 4);
  std::vector<std::string_view> views(records.begin(), records.end());
  views.insert(views.end(), {"no story", "", std::string_view("\0\0\0\0", 4)}); // kept as they are
  const std::string all = joined(views), packed = packStories(views);
  CHECK(unpackStories(packed, all.size()) == all);
  CHECK(packed.size() * 2 < all.size());
  CHECK_THROWS_AS(unpackStories(packed, all.size() - 1), Error);
  CHECK_THROWS_AS(unpackStories(packed, all.size() + 1), Error);
}

TEST_CASE("texts come back byte by byte, whatever they hold") {
  std::mt19937 random(5);
  const std::string_view alphabet("0123456789\n\0\1 %xr=,", 19);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> texts(random() % 5);
    for (std::string& t : texts)
      for (size_t k = random() % 200; k > 0; --k) t += alphabet[random() % alphabet.size()];
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const std::string all = joined(views);
    CHECK(unpackLines(packLines(views), all.size()) == all);
  }
}

TEST_CASE("a block from anywhere never does more than fail") {
  const std::vector<std::string> records = recordsOf(compiled());
  const std::vector<std::string_view> views(records.begin(), records.end());
  const std::string all = joined(views), stories = packStories(views), lines = packLines(views);
  std::mt19937 random(3);
  int failed = 0;
  for (int round = 0; round < 1500; ++round) {
    try {
      const std::string made = round % 3 ? unpackStories(damagedInside(stories, random), all.size())
                                         : unpackLines(damagedInside(lines, random), all.size());
      CHECK(made.size() == all.size());
    } catch (const Error&) {
      ++failed;
    }
  }
  CHECK(failed > 500);
  // A column that claims more than its block can hold is refused before memory is asked for.
  std::string claims;
  for (uint64_t v : {uint64_t{1}, uint64_t{1} << 40, uint64_t{0}}) putVarint(claims, v);
  CHECK_THROWS_AS(unpackLines(claims, 1000), Error);
  // Nor does one that unpacks to more or less than it claims.
  ColumnWriter out(1);
  out.text(0, std::string(5000, 'x'));
  const std::string packed = out.packed();
  size_t at = 0;
  for (int k = 0; k < 3; ++k) getVarint(packed, at);
  for (uint64_t size : {uint64_t{4999}, uint64_t{5001}, uint64_t{1} << 20})
    CHECK_THROWS_AS(ColumnReader(oneColumn(size, packed.substr(at)), 1 << 20), Error);
  CHECK(ColumnReader(oneColumn(5000, packed.substr(at)), 5000).text(0, 5000) == std::string(5000, 'x'));
}

TEST_CASE("packing in several goes keeps every compilation") {
  const std::vector<Compilation> all = compiled();
  TempTrace file;
  Corpus::create(file.path).finish();
  for (const Compilation& c : all) {
    Corpus corpus = Corpus::append(file.path);
    corpus.add(c);
    corpus.addCounts({{{"pass", "rule", "file", 3}, RuleCount{{1, 2, 3, 4, 5}, 6}}});
    corpus.finish();
    corpus.pack();
  }
  Corpus corpus = Corpus::open(file.path);
  const std::vector<CorpusEntry> entries = corpus.entries();
  REQUIRE(entries.size() == all.size());
  for (size_t k = 0; k < all.size(); ++k) {
    checkSame(corpus.load(entries[k]), all[k]);
    CHECK(corpus.load(entries[k], false, false).applied == appliedIn(all[k].story));
    CHECK(corpus.load(entries[k], false, false).story.nodes.empty());
  }
  const RuleCounts counts = corpus.counts();
  REQUIRE(counts.size() == 1);
  CHECK(counts.begin()->second.count[4] == 5 * all.size());
  Database db = Database::openReadOnly(file.path);
  Statement loose =
      db.prepare("SELECT (SELECT count(*) FROM block WHERE form = 0) + (SELECT count(*) FROM word)");
  REQUIRE(loose.step());
  CHECK(loose.integer(0) == 0);
}

TEST_CASE("a corpus of version 1 is read and added to") {
  const std::vector<Compilation> all = compiled();
  TempTrace file;
  {
    Database db = Database::create(file.path);
    db.execute(
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"
        "CREATE TABLE word (id INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT;"
        "CREATE TABLE block (id INTEGER PRIMARY KEY, raw_size INTEGER NOT NULL, data BLOB NOT NULL) STRICT;"
        "CREATE TABLE compilation (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, input_hash INTEGER NOT NULL "
        "UNIQUE, "
        "output_hash INTEGER NOT NULL, story_hash INTEGER NOT NULL, name INTEGER NOT NULL, device INTEGER "
        "NOT NULL, "
        "settings INTEGER NOT NULL, file INTEGER NOT NULL, line INTEGER NOT NULL, uses INTEGER NOT NULL, "
        "status TEXT NOT NULL, message INTEGER NOT NULL, compile_ns INTEGER NOT NULL, flops INTEGER, bytes "
        "INTEGER, "
        "block INTEGER NOT NULL, offset INTEGER NOT NULL, size INTEGER NOT NULL, asm_block INTEGER, "
        "asm_offset INTEGER, asm_size INTEGER) STRICT;"
        "CREATE TABLE match_count (pass INTEGER NOT NULL, rule INTEGER NOT NULL, file INTEGER NOT NULL, line "
        "INTEGER "
        "NOT NULL, rejected_early INTEGER NOT NULL, structure_differs INTEGER NOT NULL, declined INTEGER NOT "
        "NULL, "
        "applied INTEGER NOT NULL, unchanged INTEGER NOT NULL, took_ns INTEGER NOT NULL, "
        "PRIMARY KEY (pass, rule, file, line)) STRICT, WITHOUT ROWID;"
        "PRAGMA application_id = 1431261507; PRAGMA user_version = 1;"
        "INSERT INTO word VALUES (1, 'old'), (2, ''), (3, '{}')");
    db.execute(fmt::format("PRAGMA application_id = {}", kCorpusApplicationId));
    const Compilation& c = all[0];
    std::string raw;
    putVarint(raw, c.story.words.size());
    Statement word = db.prepare("INSERT INTO word VALUES (?, ?)");
    for (size_t k = 0; k < c.story.words.size(); ++k) {
      putVarint(raw, k + 4);
      word.bind(1, static_cast<int64_t>(k) + 4).bind(2, std::string_view(c.story.words[k])).run();
    }
    for (const std::string* f :
         {&c.graph, &c.story.nodes, &c.story.events, &c.source, &c.ir, &c.launch, &c.opts}) {
      putVarint(raw, f->size());
      raw += *f;
    }
    putVarint(raw, c.story.root);
    std::string frame(ZSTD_compressBound(raw.size()), '\0');
    frame.resize(ZSTD_compress(frame.data(), frame.size(), raw.data(), raw.size(), 12));
    Statement block = db.prepare("INSERT INTO block VALUES (1, ?, ?)");
    block.bind(1, static_cast<int64_t>(raw.size()));
    block.bindBlob(2, {reinterpret_cast<const uint8_t*>(frame.data()), frame.size()}).run();
    db.prepare("INSERT INTO compilation VALUES (1, 'kernel', 7, 8, 9, 1, 2, 3, 2, 0, 1, 'ok', 2, 5, NULL, "
               "NULL, 1, 0, ?, "
               "NULL, NULL, NULL)")
        .bind(1, static_cast<int64_t>(raw.size()))
        .run();
  }
  {
    const Corpus old = Corpus::open(file.path);
    REQUIRE(old.entries().size() == 1);
    checkSame(old.load(old.entries()[0]), all[0]);
  }
  {
    Corpus more = Corpus::append(file.path);
    more.add(all[1]);
    more.finish();
    more.pack();
  }
  const Corpus both = Corpus::open(file.path);
  REQUIRE(both.entries().size() == 2);
  checkSame(both.load(both.entries()[0]), all[0]);
  checkSame(both.load(both.entries()[1]), all[1]);
}

TEST_CASE("corpora of versions 2 and 3 are read, added to and packed anew") {
  // samples/matmul.py by earlier builds; the rows have the hashes of what they stored.
  const char* name = "";
  SUBCASE("columns of zstd") {
    name = "version-2.uopcorpus";
  }
  SUBCASE("columns of LZMA, stories told by all their nodes") {
    name = "version-3.uopcorpus";
  }
  TempTrace file;
  std::filesystem::copy_file(std::string(UOPSCOPE_SOURCE_DIR) + "/tests/data/" + name, file.path);
  std::filesystem::permissions(file.path, std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  const std::vector<Compilation> all = compiled();
  for (size_t extra : {size_t{0}, size_t{1}}) {
    if (extra) {
      Corpus more = Corpus::append(file.path);
      more.add(all[0]);
      more.finish();
      more.pack(true);
      CHECK(Database::openReadOnly(file.path).prepare("SELECT count(*) FROM block WHERE form = 2").step());
    }
    const Corpus corpus = Corpus::open(file.path);
    const std::vector<CorpusEntry> entries = corpus.entries();
    REQUIRE(entries.size() == 10 + extra);
    for (const CorpusEntry& e : entries) {
      const Compilation c = corpus.load(e, true);
      CHECK(c.inputHash() == e.inputHash);
      CHECK(c.outputHash() == e.outputHash);
      uint64_t story = hashMix(hashText(c.story.nodes), hashText(c.story.events));
      for (const std::string& w : c.story.words) story = hashMix(story, hashText(w));
      CHECK(story == e.storyHash);
      CHECK(c.assembly.empty() == (e.assembly.size == 0));
    }
    CHECK(corpus.counts().size() > 100);
  }
}

TEST_CASE("packing a whole corpus joins what several captures wrote") {
  const std::vector<Compilation> all = compiled();
  TempTrace file;
  for (const Compilation& c : all) {
    Corpus corpus = Corpus::append(file.path);
    corpus.add(c);
    corpus.finish();
    corpus.pack();
  }
  Corpus::append(file.path).pack(true);
  Corpus::append(file.path).pack(true); // and once is enough
  const Corpus corpus = Corpus::open(file.path);
  const std::vector<CorpusEntry> entries = corpus.entries();
  REQUIRE(entries.size() == all.size());
  for (size_t k = 0; k < all.size(); ++k) {
    checkSame(corpus.load(entries[k]), all[k]);
    CHECK(entries[k].record.block == entries[0].record.block);
    CHECK(entries[k].story.block == entries[0].story.block);
  }
}

TEST_CASE("a large word of a packed story costs no more memory than a small one") {
  // One node whose kind is the word 2**26 - 1, as a file may claim.
  PackedStory story;
  story.words = {"CONST\tdtypes.index\t1\t"};
  putVarint(story.nodes, 0);
  putVarint(story.nodes, 0);
  story.root = 1;
  const std::vector<uint64_t> words = {(uint64_t{1} << 26) - 1};
  const std::string record = storyRecord(story, words);
  const std::string packed = packStories(std::array{std::string_view(record)});
  const int64_t before = residentBytes();
  CHECK(unpackStories(packed, record.size()) == record);
  CHECK(residentBytes() - before < 64 << 20);
}
