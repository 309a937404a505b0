// Records everything its thread's compiler does into a trace file.
//
//   Recorder recorder({.path = "run.uoptrace"});
//   { ObserverScope scope(&recorder); compile(); }
//   recorder.finish();                               // or the destructor, with status "interrupted"
//
// The engine's thread only leaves events; a writer's thread makes rows of them and commits ten times a
// second. When the writer falls behind by more than `maxEvents`, the engine waits for it. When the disk is
// full the recording stops, says so once, and the engine goes on.
//
// What it cost is in the trace: meta time.observing_ns (events, of the threads that compile; an estimate from
// a sample), time.waited_ns (for the writer), time.writer_ns (processor time of the writer's thread).
#pragma once
#include "replay/record/event_source.h"

#include <condition_variable>
#include <map>
#include <thread>

namespace uopscope {

class TraceWriter;

struct RecorderOptions {
  std::string path;
  Tier tier = Tier::Full;
  std::map<std::string, std::string> meta; ///< stored as they are
  std::vector<std::string> files;          ///< files whose text is stored
  RecordingProgress* progress = nullptr;   ///< where to count; null: its own
  Observer* alsoCounts = nullptr;          ///< is told of match counts too, from any thread
  size_t maxEvents = 1 << 20;
};

/// There before the base that asks it for rules.
struct HoldsRuleBook {
  RuleBook ruleBook_;
};

class Recorder final : HoldsRuleBook, public EventSource {
public:
  /// Error(File) when the file cannot be made.
  explicit Recorder(RecorderOptions options);
  ~Recorder() override;

  void poolRetired(Pool& pool) override;
  /// Writes what is left and closes the file. Idempotent.
  void finish(std::string_view status = "complete", std::string_view message = {});
  /// Waits until everything so far is committed.
  void flush();
  /// Why recording stopped early; empty if it did not.
  std::string failure();
  const std::string& path() const { return path_; }
  /// From the handler of a deadly signal: everything so far is committed, with the status "crashed". True
  /// when that was done within the time.
  bool commitFromSignal(int signal, int milliseconds) noexcept;

protected:
  Event& next() override;
  void publish() override { current_->count.store(++used_, std::memory_order_release); }

private:
  void write();
  bool consumeSome(TraceWriter& writer);
  void fail(const std::string& message);
  void waitForWriter(bool commit);
  void noteCosts();

  static RecordingProgress& progressOf(RecorderOptions& options, RecordingProgress& own) {
    return options.progress ? *options.progress : own;
  }

  RecordingProgress ownProgress_;
  std::string path_;
  RecorderOptions options_;
  std::unique_ptr<TraceWriter> writer_;
  Chunk* current_ = nullptr;
  uint32_t used_ = 0;

  std::mutex mutex_;
  std::condition_variable work_, space_, done_;
  std::deque<std::unique_ptr<Chunk>> queue_;
  std::vector<std::unique_ptr<Chunk>> spare_;
  uint32_t consumed_ = 0;             ///< events of the front chunk already written
  uint64_t wanted_ = 0, reached_ = 0; ///< flushes asked for and done
  bool stop_ = false, finished_ = false, commitWanted_ = false;
  std::string failure_, status_, message_;
  std::atomic<int64_t> waitedNs_{0}; ///< of the engine's thread for the writer's
  std::atomic<int> signalAsk_{0}, signalDone_{0}, signal_{0};
  std::thread thread_;
};

} // namespace uopscope
