// Runs work on a separate thread, without a trace of the session (Background is the class with one). Jobs run
// in order. A newer job of a channel tells older ones to stop, and their answers are dropped.
//
//   aside.ask(0, [](Aside::Job& job) -> Aside::Answer { auto n = slow(job.stop); return [n] { show(n); }; });
#pragma once
#include <QObject>
#include <QThread>
#include <atomic>
#include <functional>
#include <map>
#include <memory>

namespace uopscope {

class Aside : public QObject {
  Q_OBJECT
public:
  struct Job {
    const std::atomic<bool>& stop;
    /// Reports the progress: a share from 0 to 1, and the present task.
    std::function<void(double, const QString&)> progress;
  };
  using Answer = std::function<void()>;
  using Work = std::function<Answer(Job&)>;

  explicit Aside(QObject* parent = nullptr);
  ~Aside() override;
  /// `failed` receives the message of an exception.
  void ask(int channel, Work work, std::function<void(QString)> failed);
  void cancel(int channel);
  void cancelAll();
  bool idle() const { return pending_ == 0; }
  bool busy(int channel) const { return newest_.contains(channel); }

Q_SIGNALS:
  void idleChanged();
  void progressed(int channel, double share, QString what);

private:
  QThread thread_;
  QObject* place_ = new QObject; ///< lives on the thread and is deleted when the thread ends
  std::map<int, std::shared_ptr<std::atomic<bool>>> newest_;
  int pending_ = 0;
};

} // namespace uopscope
