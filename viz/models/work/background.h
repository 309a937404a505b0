// Questions of any kind, answered aside: two threads with a trace of their own each, so that a query over a
// gigabyte never keeps a tooltip waiting. Of each channel only the newest question is answered; the work of
// an older one is told to stop.
//
//   background.ask(Channel::Sql, [text](Background::Job& job) -> Background::Answer {
//     auto rows = query(job.trace, text);            // on the thread
//     return [this, rows] { setRows(rows); };        // on ours
//   });
#pragma once
#include "replay/read/trace.h"

#include <QObject>
#include <QThread>
#include <array>
#include <atomic>
#include <functional>
#include <memory>

namespace uopscope {

/// The first ones are quick, those from Sql on may take long: they have the other thread.
enum class Channel {
  Facts,
  Find,
  Why,
  Linked,
  Move,
  Compare,
  Detail,
  Search,
  Sql,
  Check,
  Profile,
  Timeline,
  Count
};

class Background : public QObject {
  Q_OBJECT
public:
  struct Job {
    Trace& trace;
    const std::atomic<quint64>& newest;
    quint64 number;
    /// Nobody waits for this any more.
    bool stale() const { return newest.load(std::memory_order_relaxed) != number; }
    /// Shares 0 to 1 for whoever shows progress.
    std::function<void(double)> progress;
  };
  using Answer = std::function<void()>;
  using Work = std::function<Answer(Job&)>;

  explicit Background(QObject* parent = nullptr);
  ~Background() override;

  /// `known`: the overview of a reader that has the file open already.
  void open(const QString& path, std::shared_ptr<const TraceOverview> known = {});
  void refresh();
  /// `failed` gets the message of an exception; without it, failed() is emitted.
  void ask(Channel channel, Work work, std::function<void(QString)> failed = {});
  void cancel(Channel channel);
  bool idle() const { return pending_ == 0; }
  bool busy(Channel channel) const { return waiting_[static_cast<size_t>(channel)] > 0; }

Q_SIGNALS:
  void failed(QString what);
  void idleChanged();
  void progressed(int channel, double share);

private:
  static constexpr size_t kChannels = static_cast<size_t>(Channel::Count);
  struct Lane;
  Lane& lane(Channel channel) { return *lanes_[channel >= Channel::Sql]; }
  std::array<std::unique_ptr<Lane>, 2> lanes_;
  std::shared_ptr<std::array<std::atomic<quint64>, kChannels>> newest_;
  std::array<int, kChannels> waiting_{};
  quint64 number_ = 0;
  int pending_ = 0;
};

} // namespace uopscope
