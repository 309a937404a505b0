// Work done aside: threads ("lanes") with a reader of the open trace each, so that a query over a gigabyte never
// keeps a tooltip waiting. Of each channel only the newest question is answered; an older one is told to stop,
// inside SQLite too, and nobody hears its answer.
//
//   jobs.ask(Channel::Sql, [text](Jobs::Job& job) -> Jobs::Answer {
//     auto rows = query(job.trace(), text);          // on the thread
//     return [this, rows] { setRows(rows); };        // on ours
//   });
#pragma once
#include "replay/read/trace.h"

#include <QObject>
#include <QThread>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace uopscope {

class Jobs : public QObject {
  Q_OBJECT
public:
  struct Job {
    Trace* reader; ///< of this lane; null where the jobs have none
    const std::atomic<bool>& stop;
    /// Shares 0 to 1, and at what, for whoever shows progress.
    std::function<void(double, const QString&)> progress;
    /// What the lane keeps beside its reader, and drops before it.
    std::shared_ptr<void>& kept;
    uint64_t refreshed; ///< how often the reader was told to look for more
    /// Nobody waits for this any more.
    bool stale() const { return stop.load(std::memory_order_relaxed); }
    Trace& trace() const { return *reader; }
  };
  using Answer = std::function<void()>;
  using Work = std::function<Answer(Job&)>;

  /// One lane, without a reader.
  explicit Jobs(QObject* parent = nullptr);
  /// Lanes with readers; while nothing is open, nothing that is asked is done. `laneOf` tells on which of the
  /// lanes a channel works. Jobs of the lane `whole` keep their reader from one to the next: they are told to
  /// stop, and not interrupted inside SQLite.
  Jobs(int lanes, std::function<int(int)> laneOf, int whole = -1, QObject* parent = nullptr);
  ~Jobs() override;

  /// `known`: the overview of a reader that has the file open already. An empty path closes.
  void open(const QString& path, const std::shared_ptr<const TraceOverview>& known = {});
  /// What one of the readers found: those that open the file later need not look again.
  void know(const std::shared_ptr<const TraceOverview>& overview);
  /// The trace has grown; `fresh` is its overview now, as one of the readers found it.
  void refresh(const std::shared_ptr<const TraceOverview>& fresh);
  /// `failed` gets the message of an exception; without it, failed() is emitted.
  template <typename C>
  void ask(C channel, Work work, std::function<void(QString)> failed = {}) {
    post(static_cast<int>(channel), std::move(work), std::move(failed));
  }
  template <typename C>
  void cancel(C channel) {
    stop(static_cast<int>(channel));
  }
  void cancelAll();
  bool idle() const { return pending_ == 0; }
  template <typename C>
  bool busy(C channel) const {
    return newest_.contains(static_cast<int>(channel));
  }

Q_SIGNALS:
  void failed(QString what);
  void idleChanged();
  void progressed(int channel, double share, QString what);

private:
  struct Lane;
  using Flag = std::shared_ptr<std::atomic<bool>>;
  void addLane();
  void post(int channel, Work work, std::function<void(QString)> failed);
  void stop(int channel);
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::function<int(int)> laneOf_ = [](int) { return 0; };
  std::map<int, Flag> newest_;
  int pending_ = 0;
};

} // namespace uopscope
