#include "viz/models/work/aside.h"

namespace uopscope {

Aside::Aside(QObject* parent) : QObject(parent) {
  place_->moveToThread(&thread_);
  connect(&thread_, &QThread::finished, place_, &QObject::deleteLater);
  thread_.setStackSize(16 << 20);
  thread_.start();
}

Aside::~Aside() {
  cancelAll();
  thread_.quit();
  thread_.wait();
}

void Aside::cancel(int channel) {
  const auto it = newest_.find(channel);
  if (it == newest_.end()) return;
  *it->second = true;
  newest_.erase(it);
}

void Aside::cancelAll() {
  while (!newest_.empty()) cancel(newest_.begin()->first);
}

void Aside::ask(int channel, Work work, std::function<void(QString)> failed) {
  cancel(channel);
  auto stop = std::make_shared<std::atomic<bool>>(false);
  newest_[channel] = stop;
  ++pending_;
  Q_EMIT idleChanged();
  QMetaObject::invokeMethod(place_,
                            [this, channel, stop, work = std::move(work), failed = std::move(failed)] {
                              Answer answer;
                              QString problem;
                              if (!*stop) {
                                Job job{*stop, [this, channel, stop](double share, const QString& what) {
                                          QMetaObject::invokeMethod(this, [this, channel, stop, share, what] {
                                            if (!*stop) Q_EMIT progressed(channel, share, what);
                                          });
                                        }};
                                try {
                                  answer = work(job);
                                } catch (const std::exception& e) {
                                  problem = QString::fromUtf8(e.what());
                                }
                              }
                              QMetaObject::invokeMethod(this, [this, channel, stop, answer, problem, failed] {
                                --pending_;
                                if (!*stop) {
                                  newest_.erase(channel);
                                  if (answer) answer();
                                  if (!problem.isEmpty()) failed(problem);
                                }
                                Q_EMIT idleChanged();
                              });
                            });
}

} // namespace uopscope
