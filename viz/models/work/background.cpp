// A stale job is stopped inside SQLite too.
#include "viz/models/work/background.h"

#include "replay/read/interrupt.h"
#include "replay/read/sql.h"

namespace uopscope {

struct Background::Lane {
  QThread thread;
  QObject* place = new QObject; // lives on the thread; goes when it ends
  // Touched on the thread only. Opened by the first question: most files are looked at without one.
  std::unique_ptr<Trace> trace;
  std::string path;
  std::shared_ptr<const TraceOverview> known;

  Trace* opened() {
    if (!trace && !path.empty()) {
      trace = std::make_unique<Trace>(path, std::move(known));
      addSqlFunctions(*trace);
    }
    return trace.get();
  }
};

Background::Background(QObject* parent)
    : QObject(parent), newest_(std::make_shared<std::array<std::atomic<quint64>, kChannels>>()) {
  for (auto& l : lanes_) {
    l = std::make_unique<Lane>();
    l->place->moveToThread(&l->thread);
    connect(&l->thread, &QThread::finished, l->place, &QObject::deleteLater);
    l->thread.setStackSize(16 << 20);
    l->thread.start();
  }
}

Background::~Background() {
  for (auto& n : *newest_) n = ~quint64{0};
  for (auto& l : lanes_) l->thread.quit();
  for (auto& l : lanes_) l->thread.wait();
}

void Background::open(const QString& path, std::shared_ptr<const TraceOverview> known) {
  for (auto& n : *newest_) n = ++number_;
  for (auto& l : lanes_)
    QMetaObject::invokeMethod(l->place, [lane = l.get(), path, known] {
      lane->trace.reset();
      lane->path = path.toStdString();
      lane->known = known;
    });
}

void Background::refresh() {
  for (auto& l : lanes_)
    QMetaObject::invokeMethod(l->place, [lane = l.get()] {
      try {
        if (lane->trace) lane->trace->refresh();
      } catch (const std::exception&) { // the session reads it too, and says what is wrong
      }
    });
}

void Background::cancel(Channel channel) {
  (*newest_)[static_cast<size_t>(channel)] = ++number_;
}

void Background::ask(Channel channel, Work work, std::function<void(QString)> onFailure) {
  const auto c = static_cast<size_t>(channel);
  const quint64 number = ++number_;
  (*newest_)[c] = number;
  ++pending_;
  ++waiting_[c];
  Q_EMIT idleChanged();
  QMetaObject::invokeMethod(lane(channel).place, [this, lane = &lane(channel), newest = newest_, c, number,
                                                  work = std::move(work), onFailure = std::move(onFailure)] {
    Answer answer;
    QString problem;
    Trace* trace = nullptr;
    try {
      if ((*newest)[c] == number) trace = lane->opened();
    } catch (const std::exception& e) {
      problem = QString::fromUtf8(e.what());
    }
    if (trace) {
      Job job{*trace, (*newest)[c], number, [this, c](double share) {
                QMetaObject::invokeMethod(
                    this, [this, c, share] { Q_EMIT progressed(static_cast<int>(c), share); });
              }};
      try {
        const Interrupt whenStale(*trace, [&job] { return job.stale(); });
        answer = work(job);
      } catch (const std::exception& e) {
        problem = QString::fromUtf8(e.what());
      }
    }
    QMetaObject::invokeMethod(this, [this, newest, c, number, answer, problem, onFailure] {
      --pending_;
      --waiting_[c];
      if ((*newest)[c] == number) {
        if (answer) answer();
        if (!problem.isEmpty() && onFailure) onFailure(problem);
        if (!problem.isEmpty() && !onFailure) Q_EMIT failed(problem);
      }
      Q_EMIT idleChanged();
    });
  });
}

} // namespace uopscope
