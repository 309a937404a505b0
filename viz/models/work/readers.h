// The open trace, for whoever asks: a reader on this thread for what is a field away, and Jobs for all that may
// take longer than a frame. Opening, growing and closing happen here and nowhere else. Of a growing trace one lane
// looks for more (Channel::Growth); the other readers take over what it found.
//
//   Readers readers;  readers.open(std::make_unique<Trace>("run.uoptrace"));  readers.trace()->scopes();  readers.jobs().ask(...)
#pragma once
#include "viz/models/work/jobs.h"

namespace uopscope {

/// Pictures and reports of the place one is at have the first lane, quick questions the second, those from
/// Search on may take long.
enum class Channel {
  Picture,
  Node,
  Stats,
  Text,
  Facts,
  Find,
  Why,
  Linked,
  Move,
  Tree,
  Growth,
  Compare,
  Detail,
  Search,
  Schema,
  Values,
  ValueWays,
  Sql,
  Check,
  Llvm,
  Lab,
  Roofline,
  Profile,
  Timeline
};

class Readers : public QObject {
  Q_OBJECT
public:
  explicit Readers(QObject* parent = nullptr)
      : QObject(parent), jobs_(3, [](int channel) { return laneOf(static_cast<Channel>(channel)); }, 0) {}

  void open(std::unique_ptr<Trace> trace) {
    trace_ = std::move(trace);
    jobs_.open(QString::fromStdString(trace_->path()), trace_->overview());
  }
  void close() {
    jobs_.open({});
    trace_.reset();
  }
  /// All readers take up a newer overview, which one of them has made. True if it is a newer one.
  bool adopt(const std::shared_ptr<const TraceOverview>& fresh) {
    if (!trace_ || fresh == trace_->overview()) return false;
    trace_->refresh(fresh);
    jobs_.refresh(fresh);
    return true;
  }
  /// Null where nothing is open.
  Trace* trace() const { return trace_.get(); }
  Jobs& jobs() { return jobs_; }
  const Jobs& jobs() const { return jobs_; }

private:
  static int laneOf(Channel c) { return c < Channel::Facts ? 0 : c < Channel::Sql ? 1 : 2; }
  std::unique_ptr<Trace> trace_;
  Jobs jobs_;
};

} // namespace uopscope
