// A corpus file (.uopcorpus): compilations by content, each input once, with what one build made of it. The
// result of a replay is a corpus too, of the same inputs, so any two can be compared.
//
//   Corpus out = Corpus::create("before.uopcorpus");  out.add(compilation);  out.finish();
//   Corpus in = Corpus::open("before.uopcorpus");
//   for (const CorpusEntry& e : in.entries()) if (e.status != "ok") use(in.load(e).message);
//
// SQLite with texts in zstd blocks of many compilations (corpus.sql). Errors are Error(File): missing,
// foreign, newer, damaged. A process killed while it writes leaves what was committed last (every 64
// compilations or second). Several processes may append to one corpus.
#pragma once
#include "replay/record/capture.h"
#include "replay/schema/database.h"

#include <array>
#include <set>

namespace uopscope {

constexpr int64_t kCorpusApplicationId = 0x554f5043; ///< "UOPC"
constexpr int64_t kCorpusVersion = 1;

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
  BlockPlace record, assembly;
  int64_t settings = 0; ///< word
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
  /// An existing corpus, or a new one.
  static Corpus append(const std::string& path);
  static Corpus open(const std::string& path);

  /// A copy of the corpus at `input` in which nothing is known yet of the build that is to replay it: its
  /// compilations are there for confirm() and replace(); those never named are gone after finish().
  static Corpus forReplayOf(const std::string& input, const std::string& path, bool withAssembly);

  // --- writing ---
  /// This build makes of it what the replayed corpus holds.
  void confirm(const CorpusEntry& entry, int64_t compileNs);
  /// It makes something else of the same input.
  void replace(const CorpusEntry& entry, const Compilation& c);
  /// Keeps a compilation; one with the same input is counted as one more use.
  void add(const Compilation& c);
  void addCounts(const RuleCounts& counts);
  void setMeta(const std::string& key, const std::string& value);
  void flush();
  void finish(const std::string& status = "complete");

  // --- reading ---
  const std::string& path() const { return db_.path(); }
  /// What to call it in a report: meta "title" where it was made on the way to something else, or the path.
  std::string title() const;
  std::vector<CorpusEntry> entries() const;
  /// With texts and story; assembly only where asked for.
  Compilation load(const CorpusEntry& entry, bool withAssembly = false) const;
  RuleCounts counts() const;
  std::string meta(const std::string& key) const;
  /// What is unusual about the file ("the capture was not finished"), or empty.
  std::string warning() const;

private:
  struct Pending {
    CorpusEntry entry;
    std::string settings;
    std::vector<std::string> words;
    std::string body, assembly;
  };
  void append(const Compilation& c, int64_t id, int64_t uses);
  explicit Corpus(Database db);
  int64_t word(const std::string& text);
  void refreshWords();
  const std::string& wordOf(int64_t id) const;
  std::string_view text(const BlockPlace& place) const;
  int64_t writeBlock(const std::string& raw);

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
  mutable std::array<std::pair<int64_t, std::string>, 2> cache_; ///< blocks read last
};

/// A compilation by number, by the hash of its input (or its beginning), or by name; the first of several of
/// a name. Error(Value) that lists names alike.
CorpusEntry findEntry(const Corpus& corpus, const std::string& name);

} // namespace uopscope
