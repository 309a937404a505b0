// The open trace, for whoever asks: an index of known rows on this thread, and Jobs for all that is read
// from the file. Opening, growing and closing happen here and nowhere else. Of a growing trace one lane looks for more
// (Channel::Growth); the other readers take over its rows. Nothing here reads the file on the window's thread.
//
//   Readers readers;  readers.open("run.uoptrace", [&] { readers.trace()->scopes(); }, [](QString what) {});
#pragma once
#include "viz/models/work/jobs.h"
#include "viz/models/work/trace_index.h"

namespace uopscope {

/// Pictures and reports of the place one is at have the first lane, quick questions the second, those from
/// Sql on may take long, and looking for more has a lane of its own: it may take long too, and nobody waits for it.
enum class Channel {
  Picture,
  Node,
  Stats,
  Text,
  Facts,
  Find,
  Why,
  Linked,
  Open,
  Enter,
  Steps,
  StepNames,
  Move,
  Tree,
  Growth,
  Compare,
  Detail,
  Search,
  Schema,
  Values,
  ValueWays,
  Story,
  Candidates,
  Sql,
  Check,
  Llvm,
  Warp,
  Lab,
  Roofline,
  Profile,
  Timeline,
  Run, ///< searches for a step over the whole trace
  Passes
};

class Readers : public QObject {
  Q_OBJECT
public:
  explicit Readers(QObject* parent = nullptr)
      : QObject(parent), jobs_(4, [](int channel) { return laneOf(static_cast<Channel>(channel)); }, 0) {}

  /// Reads the rows that the window needs first, then calls one of the two. With `unlessEmpty`, a trace without any step is left
  /// alone and nothing is called. Closing, or opening another, cancels it.
  void open(const QString& path, std::function<void()> then, std::function<void(QString)> failed,
            bool unlessEmpty = false);
  void close();
  /// All readers take up the rows that one of them found in a trace that has grown. True if there was anything new.
  bool adopt(TraceFacts facts);
  /// Null where nothing is open.
  TraceIndex* trace() const { return index_.get(); }
  /// Calls `then` when the passes of the scope are known: now, or after a job has read them. With a scope of 0, those of
  /// the pass's scope.
  void whenKnown(ScopeId scope, PassId pass, std::function<void()> then, std::function<void(QString)> failed);
  /// Reads passes ahead, so that nearly all moves find them known.
  void readAhead();
  Jobs& jobs() { return jobs_; }
  const Jobs& jobs() const { return jobs_; }

private:
  static int laneOf(Channel c) {
    return c == Channel::Growth ? 3 : c < Channel::Facts ? 0 : c < Channel::Sql ? 1 : 2;
  }
  std::unique_ptr<TraceIndex> index_;
  QString path_; ///< that the jobs have open, or are about to
  Jobs jobs_;
};

} // namespace uopscope
