// Compilations told to an observer once more: one of a corpus to a recorder, which makes a trace of it that
// cursors, pictures and the window work on; those of a trace to a capture, which makes a corpus of them.
//
//   traceOf(corpus.load(entry), "kernel.uoptrace");
//   std::map<uint64_t, ScopeId> scopes = corpusOf("run.uoptrace", "run.uopcorpus");   // by hash of the input
//
// A story says which rewrites were made, not whether on the way up or down; that is found from their order: a
// node that is rewritten before something below it was rewritten on the way down.
#pragma once
#include "replay/read/trace.h"
#include "replay/record/corpus.h"

namespace uopscope {

/// Writes the trace of one compilation. Error(Value) for operations that this build does not know.
void traceOf(const Compilation& compilation, const std::string& path);

struct CorpusOfOptions {
  std::function<void(size_t done, size_t total)> progress = {};
  const std::atomic<bool>* stop = nullptr; ///< ends it; what is done is kept
};
/// Writes a corpus of the kernels and schedules of a trace, and says where they are in it.
std::map<uint64_t, ScopeId> corpusOf(const std::string& trace, const std::string& path,
                                     const CorpusOfOptions& options = {});

} // namespace uopscope
