// A corpus file (.uopcorpus): compilations by content. It stores each input once, with the result of one
// build. A replay writes a corpus of the same inputs, so any two corpora can be compared.
//
//   Corpus out = Corpus::create("before.uopcorpus");  out.add(compilation);  out.finish();
//   Corpus in = Corpus::open("before.uopcorpus");
//   for (const CorpusEntry& e : in.entries()) if (e.status != "ok") use(in.load(e).message);
//
// The file is SQLite with texts and stories in blocks of many compilations (corpus.sql). A missing, foreign, newer
// or damaged file throws Error(File). A process that is killed leaves its last commit; a commit comes
// with each full block, and after 64 compilations once a second has passed. Several processes may append to
// one corpus. pack() rewrites appended entries in a quarter of their bytes.
#pragma once
#include "replay/record/capture.h"
#include "replay/schema/database.h"

#include <array>
#include <set>

namespace uopscope {

constexpr int64_t kCorpusApplicationId = 0x554f5043; ///< "UOPC"
/// 2: packed blocks. 3: their columns are packed by LZMA. 4: stories follow the walks of their passes.
/// 5: the graph of a schedule says which of its values tensors hold.
constexpr int64_t kCorpusVersion = 5;

/// Where a text lies.
struct BlockPlace {
  int64_t block = 0, offset = 0, size = 0;
};

/// A compilation without its texts.
struct CorpusEntry {
  int64_t id = 0;
  ScopeKind kind = ScopeKind::Kernel;
  uint64_t inputHash = 0, outputHash = 0, storyHash = 0;
  std::string name, device, file, status, message;
  int line = 0;
  int64_t uses = 1, compileNs = 0, flops = -1, bytes = -1;
  BlockPlace record, assembly, story;
  std::string parts;    ///< of the record; empty in version 1
  int64_t settings = 0; ///< id of the word that holds the settings
  bool isKernel() const { return kind == ScopeKind::Kernel; }
  /// "samples/matmul.py:12", or empty.
  std::string place() const { return file.empty() ? std::string() : file + ":" + std::to_string(line); }
};

class Corpus {
public:
  Corpus() = default;
  Corpus(Corpus&&) = default;
  Corpus& operator=(Corpus&&) = default;

  static Corpus create(const std::string& path);
  /// Opens an existing corpus, or creates a new one.
  static Corpus append(const std::string& path);
  static Corpus open(const std::string& path);
  /// The same file for a process that was forked: a connection of its own, and what this one has read already.
  Corpus reopened() const;

  /// A copy of the corpus at `input` for a build that is to replay it. All its compilations are pending until
  /// confirm() or replace() names them; finish() drops those still pending.
  static Corpus forReplayOf(const std::string& input, const std::string& path, bool withAssembly);

  // --- writing ---
  /// This build makes the same result as the replayed corpus holds.
  void confirm(const CorpusEntry& entry, int64_t compileNs);
  /// This build makes a different result from the same input.
  void replace(const CorpusEntry& entry, const Compilation& c);
  /// Keeps a compilation. One with a known input only counts as one more use of it; the answer is then false.
  bool add(const Compilation& c);
  void addCounts(const RuleCounts& counts);
  void setMeta(const std::string& key, const std::string& value);
  void flush();
  void finish(const std::string& status = "complete");
  /// Packs the blocks, words and counts that were appended since the last time, with smaller packed blocks before them.
  /// `whole`: with all packed blocks before them, as far as a block may be large.
  void pack(bool whole = false);

  // --- reading ---
  const std::string& path() const { return db_.path(); }
  /// The name of the corpus in a report: meta "title" of an intermediate corpus, else the path.
  std::string title() const;
  std::vector<CorpusEntry> entries() const;
  /// Loads texts and story; the assembly only on demand. Without the story `applied` is set, unless the file is of
  /// version 1: there the story comes with the texts.
  Compilation load(const CorpusEntry& entry, bool withAssembly = false, bool withStory = true) const;
  RuleCounts counts() const;
  std::string meta(const std::string& key) const;
  /// A sentence about an unusual state of the file ("the capture was not finished"), or empty.
  std::string warning() const;

private:
  struct Pending {
    CorpusEntry entry;
    std::string settings;
    PackedStory story;
    std::string body, assembly;
  };
  enum class Form : uint8_t { Plain, Lines, Stories };
  /// The texts, the stories or the assembly of compilations: their columns, and the form they are packed in.
  struct Section {
    const char *block, *offset, *size;
    Form form;
  };
  /// A row of match_count, its columns in order.
  using CountRow = std::array<int64_t, 10>;
  void append(const Compilation& c, int64_t id, int64_t uses);
  explicit Corpus(Database db);
  int64_t word(const std::string& text);
  void refreshWords();
  const std::string& wordOf(int64_t id) const;
  std::string_view text(const BlockPlace& place) const;
  const std::string& block(int64_t id) const;
  int64_t writeBlock(std::span<const std::string_view> records, Form form);
  bool isNewer() const { return db_.pragma("user_version") > 1; }
  std::vector<CountRow> countRows() const;
  void packSection(const Section& section, bool whole);
  void packWords(bool whole);
  void packCounts();
  void removeBlocks(std::span<const int64_t> ids);
  Compilation loadOld(Compilation c, std::string_view record) const;

  Database db_;
  std::unordered_map<std::string, int64_t> words_;
  mutable std::vector<std::string> wordList_; ///< by id - 1
  std::vector<Pending> pending_;
  std::vector<std::pair<int64_t, int64_t>> confirmed_; ///< id, time to compile
  bool replays_ = false;
  std::unordered_map<uint64_t, int64_t> addedUses_; ///< of inputs that are in the file or pending
  std::set<uint64_t> inFile_;
  size_t pendingBytes_ = 0;
  int64_t lastFlushNs_ = 0;
  mutable std::array<std::pair<int64_t, std::string>, 4>
      cache_; ///< the blocks that were read last, the latest first
};

/// Finds a compilation by number, by the hash of its input (or the beginning of the hash), or by name; of
/// several with one name it takes the first. Throws an Error(Value) that lists similar names.
CorpusEntry findEntry(const Corpus& corpus, const std::string& name);

} // namespace uopscope
