// Reading and writing of corpora. A record is a list of fields, each with its length before it.
#include "replay/record/corpus.h"

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "replay/schema/printable.h"
#include "replay_record_embedded.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>

namespace uopscope {

namespace {
constexpr size_t kBlockBytes = 2 << 20, kMaxBlockBytes = size_t{256} << 20, kFlushEvery = 64;

void putField(std::string& out, std::string_view text) {
  putVarint(out, text.size());
  out += text;
}
std::string_view getField(std::string_view bytes, size_t& at) {
  uint64_t size = getVarint(bytes, at);
  if (size > bytes.size() - at)
    throw Error(ErrorKind::File, "a record of the corpus is longer than its block: the file is damaged");
  at += size;
  return bytes.substr(at - size, size);
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
  db.execute("BEGIN"); // all or nothing: a file that is a corpus has its tables
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
  for (const char* table : {"meta", "word", "block", "compilation", "match_count"})
    if (!db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
             .bind(1, std::string_view(table))
             .step())
      throw Error(ErrorKind::File,
                  fmt::format("{}: the table {} is missing; the file is damaged", path, table));
  return Corpus(std::move(db));
}

Corpus Corpus::append(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0 || info.st_size == 0) return create(path);
  open(path); // open() checks that the file is a corpus
  Corpus c(Database::openForWriting(path));
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
  c.db_.execute(
      "BEGIN; DELETE FROM meta; INSERT INTO meta VALUES ('status', 'open'); DELETE FROM match_count;"
      "UPDATE compilation SET status = 'pending'");
  if (!withAssembly)
    c.db_.execute("DELETE FROM block WHERE id IN (SELECT asm_block FROM compilation);"
                  "UPDATE compilation SET asm_block = NULL, asm_offset = NULL, asm_size = NULL");
  c.db_.execute("COMMIT");
  return c;
}

// --- writing ---

void Corpus::refreshWords() {
  Statement s = db_.prepare("SELECT id, value FROM word WHERE id > ? ORDER BY id");
  for (s.bind(1, static_cast<int64_t>(wordList_.size())); s.step();) {
    if (s.integer(0) != static_cast<int64_t>(wordList_.size()) + 1)
      throw Error(ErrorKind::File,
                  fmt::format("{}: words are not numbered one by one; the file is damaged", path()));
    wordList_.emplace_back(s.text(1));
    words_.emplace(wordList_.back(), s.integer(0));
  }
}

int64_t Corpus::word(const std::string& text) {
  auto [it, isNew] = words_.try_emplace(text, static_cast<int64_t>(wordList_.size()) + 1);
  if (isNew) {
    wordList_.push_back(text);
    db_.prepare("INSERT INTO word VALUES (?, ?)").bind(1, it->second).bind(2, std::string_view(text)).run();
  }
  return it->second;
}

void Corpus::add(const Compilation& c) {
  uint64_t input = c.inputHash();
  if (inFile_.contains(input) || addedUses_.contains(input)) {
    ++addedUses_[input];
    return;
  }
  addedUses_[input] = 0;
  append(c, 0, 1);
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
  p.words = c.story.words;
  for (std::string_view field :
       {std::string_view(c.graph), std::string_view(c.story.nodes), std::string_view(c.story.events),
        std::string_view(c.source), std::string_view(c.ir), std::string_view(c.launch),
        std::string_view(c.opts)})
    putField(p.body, field);
  putVarint(p.body, c.story.root);
  p.assembly = c.assembly;
  pendingBytes_ += p.body.size() + p.assembly.size();
  pending_.push_back(std::move(p));
  if (pendingBytes_ >= kBlockBytes ||
      (pending_.size() >= kFlushEvery && nowNs() - lastFlushNs_ > 1'000'000'000))
    flush();
}

int64_t Corpus::writeBlock(const std::string& raw) {
  std::string packed(ZSTD_compressBound(raw.size()), '\0');
  size_t size = ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), 12);
  if (ZSTD_isError(size))
    throw Error(ErrorKind::Runtime, fmt::format("compression failed: {}", ZSTD_getErrorName(size)));
  Statement s = db_.prepare("INSERT INTO block (raw_size, data) VALUES (?, ?)");
  s.bind(1, static_cast<int64_t>(raw.size()));
  s.bindBlob(2, {reinterpret_cast<const uint8_t*>(packed.data()), size}).run();
  return sqlite3_last_insert_rowid(db_.handle());
}

void Corpus::flush() {
  lastFlushNs_ = nowNs();
  if (pending_.empty() && addedUses_.empty() && confirmed_.empty()) return;
  db_.execute("BEGIN IMMEDIATE");
  refreshWords();
  std::string records, assemblies;
  for (Pending& p : pending_) {
    std::string head;
    putVarint(head, p.words.size());
    for (const std::string& w : p.words) putVarint(head, static_cast<uint64_t>(word(w)));
    p.entry.record = {0, static_cast<int64_t>(records.size()),
                      static_cast<int64_t>(head.size() + p.body.size())};
    records += head + p.body;
    p.entry.assembly = {0, static_cast<int64_t>(assemblies.size()), static_cast<int64_t>(p.assembly.size())};
    assemblies += p.assembly;
  }
  int64_t block = records.empty() ? 0 : writeBlock(records),
          asmBlock = assemblies.empty() ? 0 : writeBlock(assemblies);
  Statement s = db_.prepare(
      "INSERT INTO compilation (kind, input_hash, output_hash, story_hash, name, device, settings, file, "
      "line, status, message, compile_ns, flops, bytes, block, offset, size, asm_block, asm_offset, "
      "asm_size, "
      "uses, id) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
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
                "SELECT asm_block FROM compilation WHERE asm_block IS NOT NULL)");
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
  Statement s = db_.prepare("SELECT id, kind, input_hash, output_hash, story_hash, name, device, settings, "
                            "file, line, uses, status, message, "
                            "compile_ns, flops, bytes, block, offset, size, asm_block, asm_offset, asm_size "
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
  }
  return all;
}

std::string_view Corpus::text(const BlockPlace& place) const {
  auto* hit = &cache_[0];
  if (cache_[1].first == place.block) hit = &cache_[1];
  if (hit->first != place.block) {
    Statement s = db_.prepare("SELECT raw_size, data FROM block WHERE id = ?");
    s.bind(1, place.block);
    if (!s.step())
      throw Error(ErrorKind::File,
                  fmt::format("{}: block {} is missing; the file is damaged", path(), place.block));
    auto raw = static_cast<uint64_t>(s.integer(0));
    auto data = s.blob(1);
    if (raw > kMaxBlockBytes)
      throw Error(ErrorKind::File,
                  fmt::format("{}: block {} claims {} bytes; the file is damaged", path(), place.block, raw));
    std::string bytes(raw, '\0');
    size_t got = ZSTD_decompress(bytes.data(), bytes.size(), data.data(), data.size());
    if (ZSTD_isError(got) || got != raw)
      throw Error(ErrorKind::File,
                  fmt::format("{}: block {} does not decompress; the file is damaged", path(), place.block));
    std::swap(cache_[0], cache_[1]);
    cache_[0] = {place.block, std::move(bytes)};
    hit = &cache_[0];
  }
  auto size = static_cast<int64_t>(hit->second.size());
  if (place.offset < 0 || place.size < 0 || place.offset > size || place.size > size - place.offset)
    throw Error(ErrorKind::File,
                fmt::format("{}: a record lies outside its block; the file is damaged", path()));
  return std::string_view(hit->second)
      .substr(static_cast<size_t>(place.offset), static_cast<size_t>(place.size));
}

Compilation Corpus::load(const CorpusEntry& e, bool withAssembly) const {
  Compilation c;
  c.kind = e.kind, c.device = e.device, c.settings = wordOf(e.settings), c.file = e.file, c.line = e.line,
  c.name = e.name;
  c.status = e.status, c.message = e.message, c.compileNs = e.compileNs, c.flops = e.flops, c.bytes = e.bytes;
  if (withAssembly && e.assembly.size) c.assembly = text(e.assembly);
  std::string_view record = text(e.record);
  size_t at = 0;
  uint64_t words = getVarint(record, at);
  for (uint64_t i = 0; i < words; ++i)
    c.story.words.push_back(wordOf(static_cast<int64_t>(getVarint(record, at))));
  for (std::string* field : {&c.graph, &c.story.nodes, &c.story.events, &c.source, &c.ir, &c.launch, &c.opts})
    *field = getField(record, at);
  c.story.root = static_cast<uint32_t>(getVarint(record, at));
  return c;
}

RuleCounts Corpus::counts() const {
  RuleCounts all;
  Statement s = db_.prepare(
      "SELECT pass, rule, file, line, rejected_early, structure_differs, declined, applied, unchanged, "
      "took_ns FROM match_count");
  while (s.step()) {
    RuleCount& n = all[{wordOf(s.integer(0)), wordOf(s.integer(1)), wordOf(s.integer(2)),
                        static_cast<int>(s.integer(3))}];
    for (int i = 0; i < kOutcomeCount; ++i) n.count[i] = static_cast<uint64_t>(s.integer(4 + i));
    n.ns = s.integer(9);
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
