// Rows of corpora. corpus_blocks.cpp has the blocks that texts and stories lie in.
#include "replay/record/corpus.h"

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "replay/record/story_codec.h"
#include "replay/schema/printable.h"
#include "replay_record_embedded.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace uopscope {

namespace {
constexpr size_t kBlockBytes = 2 << 20, kFlushEvery = 64;

/// A field of version 1: its length and its bytes.
std::string_view getField(std::string_view bytes, size_t& at) {
  uint64_t size = getVarint(bytes, at);
  if (size > bytes.size() - at)
    throw Error(ErrorKind::File, "a record of the corpus is longer than its block: the file is damaged");
  at += size;
  return bytes.substr(at - size, size);
}
/// The texts of a record, in order.
template <typename Made>
auto textsOf(Made& c) {
  return std::array{&c.graph, &c.source, &c.ir, &c.launch, &c.opts};
}
std::string_view kindName(ScopeKind kind) {
  return kind == ScopeKind::Kernel ? "kernel" : "schedule";
}
} // namespace

Corpus::Corpus(Database db) : db_(std::move(db)), lastFlushNs_(nowNs()) {
  sqlite3_busy_timeout(db_.handle(), 20000);
}

Corpus Corpus::create(const std::string& path) {
  Database db = Database::create(path);
  db.execute("PRAGMA page_size = 1024"); // a small corpus has nine tables, each with a page that is not full
  db.execute("BEGIN");                   // all or nothing: a file that is a corpus has its tables
  for (const auto& [file, sql] : replay_recordEmbedded())
    if (file == "corpus.sql") db.execute(sql);
  db.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", kCorpusApplicationId,
                         kCorpusVersion));
  db.execute("INSERT INTO meta VALUES ('status', 'open')");
  db.execute("COMMIT");
  return Corpus(std::move(db));
}

Corpus Corpus::open(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0)
    throw Error(ErrorKind::File,
                fmt::format("{}: {}; give the path of a .uopcorpus file", path, strerror(errno)));
  if (!S_ISREG(info.st_mode) || info.st_size == 0)
    throw Error(ErrorKind::File, fmt::format("{}: {}; give the path of a .uopcorpus file", path,
                                             S_ISREG(info.st_mode) ? "the file is empty" : "not a file"));
  Database db = Database::openReadOnly(path);
  int64_t application = db.pragma("application_id"), version = db.pragma("user_version");
  if (application != kCorpusApplicationId)
    throw Error(ErrorKind::File, fmt::format("{}: an SQLite database, but not a corpus of uopscope", path));
  if (version > kCorpusVersion)
    throw Error(
        ErrorKind::File,
        fmt::format(
            "{}: written by a newer uopscope (corpus format {}, this one reads up to {}); update uopscope",
            path, version, kCorpusVersion));
  for (const char* table :
       {"meta", "word", "block", "compilation", "match_count", "word_block", "match_block"})
    if ((version > 1 || !std::string_view(table).ends_with("_block")) &&
        !db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
             .bind(1, std::string_view(table))
             .step())
      throw Error(ErrorKind::File,
                  fmt::format("{}: the table {} is missing; the file is damaged", path, table));
  return Corpus(std::move(db));
}

Corpus Corpus::reopened() const {
  Corpus c(Database::openReadOnly(path()));
  c.wordList_ = wordList_;
  c.cache_ = cache_;
  return c;
}

namespace {
/// Adds what version 2 has to the tables of version 1. Rows keep their layout, and blocks stay as they are.
void migrate(Database& db) {
  if (db.pragma("user_version") >= kCorpusVersion) return;
  db.execute("BEGIN IMMEDIATE");
  if (db.pragma("user_version") < 2)
    db.execute("ALTER TABLE block ADD COLUMN form INTEGER NOT NULL DEFAULT 0;"
               "CREATE TABLE word_block (first INTEGER PRIMARY KEY, count INTEGER NOT NULL, "
               "block INTEGER NOT NULL) STRICT;"
               "CREATE TABLE match_block (block INTEGER PRIMARY KEY) STRICT;"
               "ALTER TABLE compilation ADD COLUMN story_block INTEGER; ALTER TABLE compilation "
               "ADD COLUMN story_offset INTEGER;"
               "ALTER TABLE compilation ADD COLUMN story_size INTEGER; ALTER TABLE compilation "
               "ADD COLUMN parts BLOB;");
  db.execute(fmt::format("PRAGMA user_version = {}; COMMIT", kCorpusVersion));
}
} // namespace

Corpus Corpus::append(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0 || info.st_size == 0) return create(path);
  open(path); // open() checks that the file is a corpus
  Corpus c(Database::openForWriting(path));
  migrate(c.db_);
  for (Statement s = c.db_.prepare("SELECT input_hash FROM compilation"); s.step();)
    c.inFile_.insert(static_cast<uint64_t>(s.integer(0)));
  return c;
}

Corpus Corpus::forReplayOf(const std::string& input, const std::string& path, bool withAssembly) {
  Corpus in = open(input);
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) std::remove((path + suffix).c_str());
  in.db_.copyTo(path);
  Corpus c(Database::openForWriting(path));
  c.replays_ = true;
  migrate(c.db_);
  c.db_.execute(
      "BEGIN; DELETE FROM meta; INSERT INTO meta VALUES ('status', 'open'); DELETE FROM match_count;"
      "DELETE FROM block WHERE id IN (SELECT block FROM match_block); DELETE FROM match_block;"
      "UPDATE compilation SET status = 'pending'");
  if (!withAssembly)
    c.db_.execute("DELETE FROM block WHERE id IN (SELECT asm_block FROM compilation);"
                  "UPDATE compilation SET asm_block = NULL, asm_offset = NULL, asm_size = NULL");
  c.db_.execute("COMMIT");
  return c;
}

// --- writing ---

int64_t Corpus::word(const std::string& text) {
  auto [it, isNew] = words_.try_emplace(text, static_cast<int64_t>(wordList_.size()) + 1);
  if (isNew) {
    wordList_.push_back(text);
    db_.prepare("INSERT INTO word VALUES (?, ?)").bind(1, it->second).bind(2, std::string_view(text)).run();
  }
  return it->second;
}

bool Corpus::add(const Compilation& c) {
  uint64_t input = c.inputHash();
  if (inFile_.contains(input) || addedUses_.contains(input)) {
    ++addedUses_[input];
    return false;
  }
  addedUses_[input] = 0;
  append(c, 0, 1);
  return true;
}

void Corpus::confirm(const CorpusEntry& entry, int64_t compileNs) {
  confirmed_.emplace_back(entry.id, compileNs);
  if (confirmed_.size() >= kFlushEvery && nowNs() - lastFlushNs_ > 1'000'000'000) flush();
}

void Corpus::replace(const CorpusEntry& entry, const Compilation& c) {
  append(c, entry.id, entry.uses);
}

void Corpus::append(const Compilation& c, int64_t id, int64_t uses) {
  Pending p;
  CorpusEntry& e = p.entry;
  e.id = id, e.uses = uses;
  e.kind = c.kind;
  e.inputHash = c.inputHash();
  e.outputHash = c.outputHash();
  e.storyHash = hashMix(hashText(c.story.nodes), hashText(c.story.events));
  for (const std::string& w : c.story.words) e.storyHash = hashMix(e.storyHash, hashText(w));
  e.name = c.name, e.device = c.device, e.file = c.file, e.status = c.status, e.message = c.message;
  e.line = c.line, e.compileNs = c.compileNs, e.flops = c.flops, e.bytes = c.bytes;
  p.settings = c.settings;
  p.story = c.story;
  for (const std::string* text : textsOf(c)) {
    if (text != &c.opts) putVarint(e.parts, text->size());
    p.body += *text;
  }
  putVarint(e.parts, appliedIn(c.story));
  p.assembly = c.assembly;
  pendingBytes_ += p.body.size() + p.assembly.size() + p.story.nodes.size() + p.story.events.size();
  pending_.push_back(std::move(p));
  if (pendingBytes_ >= kBlockBytes ||
      (pending_.size() >= kFlushEvery && nowNs() - lastFlushNs_ > 1'000'000'000))
    flush();
}

void Corpus::flush() {
  lastFlushNs_ = nowNs();
  if (pending_.empty() && addedUses_.empty() && confirmed_.empty()) return;
  db_.execute("BEGIN IMMEDIATE");
  refreshWords();
  std::string records, assemblies, stories;
  std::vector<uint64_t> words;
  auto append = [](std::string& block, std::string_view text) {
    block += text;
    return BlockPlace{0, static_cast<int64_t>(block.size() - text.size()), static_cast<int64_t>(text.size())};
  };
  for (Pending& p : pending_) {
    words.clear();
    for (const std::string& w : p.story.words) words.push_back(static_cast<uint64_t>(word(w)));
    p.entry.record = append(records, p.body);
    p.entry.assembly = append(assemblies, p.assembly);
    p.entry.story = append(stories, storyRecord(p.story, words));
  }
  auto write = [&](const std::string& raw) {
    const std::string_view all[] = {raw};
    return raw.empty() ? 0 : writeBlock(all, Form::Plain);
  };
  const int64_t block = write(records), asmBlock = write(assemblies), storyBlock = write(stories);
  Statement s = db_.prepare(
      "INSERT INTO compilation (kind, input_hash, output_hash, story_hash, name, device, settings, file, "
      "line, status, message, compile_ns, flops, bytes, block, offset, size, asm_block, asm_offset, "
      "asm_size, uses, id, story_block, story_offset, story_size, parts) "
      "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
      "ON CONFLICT (input_hash) DO UPDATE SET uses = uses + 1");
  Statement remove = db_.prepare("DELETE FROM compilation WHERE id = ?");
  for (const Pending& p : pending_) {
    const CorpusEntry& e = p.entry;
    if (e.id) remove.bind(1, e.id).run();
    s.bind(21, e.uses);
    e.id ? s.bind(22, e.id) : s.bindNull(22);
    s.bind(1, kindName(e.kind))
        .bind(2, static_cast<int64_t>(e.inputHash))
        .bind(3, static_cast<int64_t>(e.outputHash));
    s.bind(4, static_cast<int64_t>(e.storyHash))
        .bind(5, word(e.name))
        .bind(6, word(e.device))
        .bind(7, word(p.settings));
    s.bind(8, word(e.file))
        .bind(9, int64_t{e.line})
        .bind(10, std::string_view(e.status))
        .bind(11, word(e.message));
    s.bind(12, e.compileNs);
    e.flops < 0 ? s.bindNull(13) : s.bind(13, e.flops);
    e.bytes < 0 ? s.bindNull(14) : s.bind(14, e.bytes);
    s.bind(15, block).bind(16, e.record.offset).bind(17, e.record.size);
    bool hasAsm = e.assembly.size > 0;
    for (auto [at, v] : {std::pair{18, asmBlock}, {19, e.assembly.offset}, {20, e.assembly.size}})
      hasAsm ? s.bind(at, v) : s.bindNull(at);
    s.bind(23, storyBlock).bind(24, e.story.offset).bind(25, e.story.size);
    s.bindBlob(26, {reinterpret_cast<const uint8_t*>(e.parts.data()), e.parts.size()});
    s.run();
    inFile_.insert(e.inputHash);
  }
  Statement same = db_.prepare("UPDATE compilation SET status = 'ok', compile_ns = ? WHERE id = ?");
  for (auto [id, ns] : confirmed_) same.bind(1, ns).bind(2, id).run();
  Statement more = db_.prepare("UPDATE compilation SET uses = uses + ? WHERE input_hash = ?");
  for (auto [input, uses] : addedUses_)
    if (uses) more.bind(1, uses).bind(2, static_cast<int64_t>(input)).run();
  db_.execute("COMMIT");
  pending_.clear();
  confirmed_.clear();
  addedUses_.clear();
  pendingBytes_ = 0;
}

void Corpus::addCounts(const RuleCounts& counts) {
  db_.execute("BEGIN IMMEDIATE");
  refreshWords();
  Statement s = db_.prepare("INSERT INTO match_count VALUES (?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET "
                            "rejected_early = rejected_early + "
                            "excluded.rejected_early, structure_differs = structure_differs + "
                            "excluded.structure_differs, declined = declined "
                            "+ excluded.declined, applied = applied + excluded.applied, unchanged = "
                            "unchanged + excluded.unchanged, took_ns = "
                            "took_ns + excluded.took_ns");
  for (const auto& [place, n] : counts) {
    s.bind(1, word(place.pass))
        .bind(2, word(place.rule))
        .bind(3, word(place.file))
        .bind(4, int64_t{place.line});
    for (int i = 0; i < kOutcomeCount; ++i) s.bind(5 + i, static_cast<int64_t>(n.count[i]));
    s.bind(10, n.ns).run();
  }
  db_.execute("COMMIT");
}

void Corpus::setMeta(const std::string& key, const std::string& value) {
  db_.prepare("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value")
      .bind(1, std::string_view(key))
      .bind(2, std::string_view(value))
      .run();
}

void Corpus::finish(const std::string& status) {
  flush();
  if (replays_) // drops replaced compilations and those that the replay did not reach
    db_.execute("DELETE FROM compilation WHERE status = 'pending';"
                "DELETE FROM block WHERE id NOT IN (SELECT block FROM compilation UNION "
                "SELECT asm_block FROM compilation WHERE asm_block IS NOT NULL UNION "
                "SELECT story_block FROM compilation WHERE story_block IS NOT NULL UNION "
                "SELECT block FROM word_block UNION SELECT block FROM match_block)");
  setMeta("status", status);
}

// --- reading ---

const std::string& Corpus::wordOf(int64_t id) const {
  if (wordList_.empty()) const_cast<Corpus*>(this)->refreshWords();
  if (id < 1 || id > static_cast<int64_t>(wordList_.size()))
    throw Error(ErrorKind::File, fmt::format("{}: word {} is missing; the file is damaged", path(), id));
  return wordList_[static_cast<size_t>(id - 1)];
}

std::vector<CorpusEntry> Corpus::entries() const {
  std::vector<CorpusEntry> all;
  const bool newer = isNewer();
  Statement s = db_.prepare("SELECT id, kind, input_hash, output_hash, story_hash, name, device, settings, "
                            "file, line, uses, status, message, "
                            "compile_ns, flops, bytes, block, offset, size, asm_block, asm_offset, asm_size" +
                            std::string(newer ? ", story_block, story_offset, story_size, parts " : " ") +
                            "FROM compilation WHERE status <> 'pending' ORDER BY id");
  while (s.step()) {
    CorpusEntry& e = all.emplace_back();
    e.id = s.integer(0);
    e.kind = s.text(1) == "kernel" ? ScopeKind::Kernel : ScopeKind::Schedule;
    e.inputHash = static_cast<uint64_t>(s.integer(2)), e.outputHash = static_cast<uint64_t>(s.integer(3));
    e.storyHash = static_cast<uint64_t>(s.integer(4));
    e.name = printable(wordOf(s.integer(5))), e.device = printable(wordOf(s.integer(6)));
    e.settings = s.integer(7), e.file = printable(wordOf(s.integer(8)));
    e.line = static_cast<int>(s.integer(9)), e.uses = s.integer(10), e.status = printable(s.text(11)),
    e.message = printable(wordOf(s.integer(12)));
    e.compileNs = s.integer(13);
    if (!s.isNull(14)) e.flops = s.integer(14);
    if (!s.isNull(15)) e.bytes = s.integer(15);
    e.record = {s.integer(16), s.integer(17), s.integer(18)};
    e.assembly = {s.integer(19), s.integer(20), s.integer(21)};
    if (!newer) continue;
    e.story = {s.integer(22), s.integer(23), s.integer(24)};
    const auto parts = s.blob(25);
    e.parts.assign(reinterpret_cast<const char*>(parts.data()), parts.size());
  }
  return all;
}

Compilation Corpus::loadOld(Compilation c, std::string_view record) const {
  size_t at = 0;
  uint64_t words = getVarint(record, at);
  for (uint64_t i = 0; i < words; ++i)
    c.story.words.push_back(wordOf(static_cast<int64_t>(getVarint(record, at))));
  for (std::string* field : {&c.graph, &c.story.nodes, &c.story.events, &c.source, &c.ir, &c.launch, &c.opts})
    *field = getField(record, at);
  c.story.root = static_cast<uint32_t>(getVarint(record, at));
  return c;
}

Compilation Corpus::load(const CorpusEntry& e, bool withAssembly, bool withStory) const {
  Compilation c;
  c.kind = e.kind, c.device = e.device, c.settings = wordOf(e.settings), c.file = e.file, c.line = e.line,
  c.name = e.name;
  c.status = e.status, c.message = e.message, c.compileNs = e.compileNs, c.flops = e.flops, c.bytes = e.bytes;
  if (withAssembly && e.assembly.size) c.assembly = text(e.assembly);
  std::string_view record = text(e.record);
  if (e.parts.empty()) return loadOld(std::move(c), record);
  size_t at = 0;
  for (std::string* field : textsOf(c)) {
    const uint64_t size = field == &c.opts ? record.size() : getVarint(e.parts, at);
    if (size > record.size())
      throw Error(ErrorKind::File,
                  fmt::format("{}: a text is longer than its record; the file is damaged", path()));
    *field = record.substr(0, size);
    record.remove_prefix(size);
  }
  c.applied = getVarint(e.parts, at);
  if (!withStory) return c;
  std::vector<uint64_t> words;
  c.story = storyOf(text(e.story), words);
  for (uint64_t w : words) c.story.words.push_back(wordOf(static_cast<int64_t>(w)));
  return c;
}

RuleCounts Corpus::counts() const {
  RuleCounts all;
  for (const CountRow& row : countRows()) {
    RuleCount& n = all[{wordOf(row[0]), wordOf(row[1]), wordOf(row[2]), static_cast<int>(row[3])}];
    for (size_t k = 0; k < size_t{kOutcomeCount}; ++k) n.count[k] += static_cast<uint64_t>(row[4 + k]);
    n.ns += row.back();
  }
  return all;
}

std::string Corpus::title() const {
  std::string title = meta("title");
  return title.empty() ? path() : title;
}

std::string Corpus::meta(const std::string& key) const {
  Statement s = db_.prepare("SELECT value FROM meta WHERE key = ?");
  s.bind(1, std::string_view(key));
  return s.step() ? std::string(s.text(0)) : std::string();
}

std::string Corpus::warning() const {
  std::string status = meta("status");
  if (status == "complete") return {};
  if (status == "open")
    return fmt::format("{}: was not finished: it holds the compilations of the last commit", path());
  return fmt::format("{}: ended as '{}'", path(), status);
}

CorpusEntry findEntry(const Corpus& corpus, const std::string& name) {
  std::vector<CorpusEntry> entries = corpus.entries();
  for (const CorpusEntry& e : entries)
    if (e.name == name || std::to_string(e.id) == name) return e;
  if (name.size() >= 6)
    for (const CorpusEntry& e : entries)
      if (fmt::format("{:016x}", e.inputHash).starts_with(name)) return e;
  std::string some;
  for (const CorpusEntry& e : entries)
    if (some.size() < 200) some += (some.empty() ? "" : ", ") + e.name;
  throw Error(ErrorKind::Value, fmt::format("{}: no compilation '{}'; there are: {}{}", corpus.path(), name,
                                            some, some.size() < 200 ? "" : " ..."));
}

} // namespace uopscope
