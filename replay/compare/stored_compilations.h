// Opens any source of compilations: a corpus, the result of a replay, or a trace. A trace holds the same data
// in a different form (graphs, passes, rewrites, texts), so every command that takes a corpus takes a trace
// too.
//
//   StoredCompilations before("monday.uoptrace"), after("today.uopcorpus");
//   CorpusDiff d = diffCorpora(Corpus::open(before.path()), Corpus::open(after.path()), {});
//
// A trace is converted to a corpus in the temporary folder, which the destructor removes. Data that the trace
// lacks stays empty (tier stats has no rewrites). Kernels of a foreign engine with operations unknown to this
// one are left out and counted.
#pragma once
#include "replay/read/trace.h"
#include "replay/record/corpus.h"

namespace uopscope {

/// A file in the temporary folder. The destructor removes it together with SQLite's files beside it.
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
  /// Throws Error(File) for a file that is missing, damaged, or neither a corpus nor a trace. `progress` gets
  /// the done share of a trace, 0 to 1; by returning false it ends with Error(Interrupted).
  explicit StoredCompilations(const std::string& path, const std::function<bool(double)>& progress = {});
  /// The path of the corpus.
  const std::string& path() const { return made_ ? made_->path() : given_; }
  /// A warning about the file for a person, or empty.
  const std::string& warning() const { return warning_; }
  /// The trace's scope of each input, by the hash of the input; empty for a corpus.
  const std::map<uint64_t, int64_t>& scopes() const { return scopes_; }

private:
  std::string given_, warning_;
  std::unique_ptr<TemporaryFile> made_;
  std::map<uint64_t, int64_t> scopes_;
};

/// Whether the file is a trace, by its name or its content.
bool isTraceFile(const std::string& path);

/// One kernel or schedule of a trace. Error(File) or Error(Value) for one that this engine cannot read.
Compilation storedCompilation(Trace& trace, ScopeId scope);

/// Adds every compilation of a trace to a corpus. Returns the number of compilations that this engine cannot
/// read. `scopes` receives the first scope that compiled each input.
size_t addCompilations(Corpus& corpus, Trace& trace, const std::function<bool(double)>& progress = {},
                       std::map<uint64_t, int64_t>* scopes = nullptr);

} // namespace uopscope
