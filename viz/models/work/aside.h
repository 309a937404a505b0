// Work on a thread of its own, apart from any trace of the session: Background without a trace. Jobs run one
// after another; a newer job of a channel tells the older ones to stop and nobody hears their answers.
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
    /// For whoever shows how far it is: from 0 to 1, and at what.
    std::function<void(double, const QString&)> progress;
  };
  using Answer = std::function<void()>;
  using Work = std::function<Answer(Job&)>;

  explicit Aside(QObject* parent = nullptr);
  ~Aside() override;
  /// `failed` gets the message of an exception.
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
  QObject* place_ = new QObject; ///< lives on the thread; goes when it ends
  std::map<int, std::shared_ptr<std::atomic<bool>>> newest_;
  int pending_ = 0;
};

} // namespace uopscope
