// Records the compiler's work on one thread into a trace file.
//
//   Recorder recorder({.path = "run.uoptrace"});
//   { ObserverScope scope(&recorder); compile(); }
//   recorder.finish();                               // or the destructor, with status "interrupted"
//
// The engine's thread only leaves events; a writer thread turns them into rows and commits ten times a
// second. It keeps the pools that the engine is done with until they are written. When the writer is more than `maxEvents`
// or 64 MB of pools behind, the engine waits for it. When the disk is full the
// recording stops, reports it once, and the engine goes on.
//
// A process forks while its writer rests: it holds no lock then that the child inherits, SQLite's least of all.
//
// The trace holds the cost of its recording: meta time.observing_ns (making events on the compiling threads;
// estimated from a sample), time.waited_ns (waiting for the writer), time.writer_ns (processor time of the
// writer thread).
#pragma once
#include "replay/record/event_source.h"
#include "replay/schema/database.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <thread>

namespace uopscope {

class TraceWriter;

struct RecorderOptions {
  std::string path;
  Tier tier = Tier::Full;
  std::map<std::string, std::string> meta; ///< entries stored unchanged
  /// Entries that take their time, such as what git says of the work tree. The writer's thread asks for them once.
  std::function<std::map<std::string, std::string>()> laterMeta{};
  std::vector<std::string> files;        ///< files whose text is stored
  RecordingProgress* progress = nullptr; ///< counters to use; null: the recorder's own
  Observer* alsoCounts = nullptr;        ///< receives match counts too, from any thread
  size_t maxEvents = 1 << 20;
};

/// A base class, so that the rule book exists before EventSource asks it for rules.
struct HoldsRuleBook {
  RuleBook ruleBook_;
};

class Recorder final : HoldsRuleBook, public EventSource {
public:
  /// Throws Error(File) when the file cannot be created.
  explicit Recorder(RecorderOptions options);
  ~Recorder() override;

  void poolRetired(Pool& pool) override;
  /// Writes the remaining events and closes the file. Idempotent.
  void finish(std::string_view status = "complete", std::string_view message = {});
  /// Waits until all events so far are committed.
  void flush();
  /// The reason why recording stopped early; empty if it did not.
  std::string failure();
  const std::string& path() const { return path_; }
  /// For the handler of a deadly signal: commits everything so far with the status "crashed". True when that
  /// succeeded within the time.
  bool commitFromSignal(int signal, int milliseconds) noexcept;

protected:
  Event& next() override;
  void publish() override { current_->count.store(++used_, std::memory_order_release); }
  void keptPool(size_t bytes) override;

private:
  void write(Database db, int64_t startNs);
  void begin(Database db, int64_t startNs); ///< makes the tables, a hundredth of a second of SQLite
  bool consumeSome();
  void fail(const std::string& message);
  void waitForWriter(bool commit);
  void noteCosts();
  void restWhileForking();

  friend class ForkWatch;
  /// Returns when the writer rests, and holds the queue's lock; `goOn` gives it back.
  void rest();
  void goOn();

  static RecordingProgress& progressOf(RecorderOptions& options, RecordingProgress& own) {
    return options.progress ? *options.progress : own;
  }

  RecordingProgress ownProgress_;
  std::string path_;
  RecorderOptions options_;
  std::unique_ptr<TraceWriter> writer_; ///< of the writer's thread; null: no room even for tables
  Chunk* current_ = nullptr;
  uint32_t used_ = 0;

  std::mutex mutex_;
  std::condition_variable work_, space_, done_, rested_;
  std::deque<std::unique_ptr<Chunk>> queue_;
  std::vector<std::unique_ptr<Chunk>> spare_;
  uint32_t consumed_ = 0;             ///< events of the front chunk already written
  uint64_t wanted_ = 0, reached_ = 0; ///< flushes asked for, and flushes done
  bool stop_ = false, finished_ = false, commitWanted_ = false;
  bool forking_ = false, resting_ = false; ///< resting_: the writer waits, in no function of SQLite
  std::string failure_, status_, message_;
  std::atomic<int64_t> waitedNs_{0}; ///< time the engine's thread waited for the writer
  std::atomic<size_t> keptBytes_{0}; ///< of pools that wait for the writer
  std::atomic<int> signalAsk_{0}, signalDone_{0}, signal_{0};
  Recorder* nextOfProcess_ = nullptr; ///< in the list of ForkWatch
  std::thread thread_;
};

} // namespace uopscope
