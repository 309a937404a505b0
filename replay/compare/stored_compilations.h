// Where compilations are read from: a corpus, the result of a replay, or a trace. A trace holds the same
// things in another shape (graphs, passes, rewrites, texts), so whatever takes a corpus takes a trace too.
//
//   StoredCompilations before("monday.uoptrace"), after("today.uopcorpus");
//   CorpusDiff d = diffCorpora(Corpus::open(before.path()), Corpus::open(after.path()), {});
//
// Of a trace, a corpus is made in the temporary folder and goes when this does. What a trace does not hold
// (tier stats has no rewrites) is absent; kernels of a foreign engine that this one has no operations for are
// left out and counted.
#pragma once
#include "replay/record/corpus.h"

namespace uopscope {

class Trace;

/// A file in the temporary folder that goes, with what SQLite keeps beside it, when this does.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string& suffix);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

private:
  std::string path_;
};

class StoredCompilations {
public:
  /// Error(File): missing, damaged, neither a corpus nor a trace. `progress` gets shares 0 to 1 of a trace;
  /// returning false ends with Error(Interrupted).
  explicit StoredCompilations(const std::string& path, const std::function<bool(double)>& progress = {});
  /// Of the corpus.
  const std::string& path() const { return made_ ? made_->path() : given_; }
  /// What a person should know about the file, or empty.
  const std::string& warning() const { return warning_; }
  /// Scope of the trace by the hash of the input it compiled; empty for a corpus.
  const std::map<uint64_t, int64_t>& scopes() const { return scopes_; }

private:
  std::string given_, warning_;
  std::unique_ptr<TemporaryFile> made_;
  std::map<uint64_t, int64_t> scopes_;
};

/// Every compilation of a trace, added to a corpus; the number of those that this engine cannot read.
/// `scopes` receives where each input was compiled (first).
size_t addCompilations(Corpus& corpus, Trace& trace, const std::function<bool(double)>& progress = {},
                       std::map<uint64_t, int64_t>* scopes = nullptr);

} // namespace uopscope
