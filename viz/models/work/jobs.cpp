#include "viz/models/work/jobs.h"

#include "replay/read/interrupt.h"
#include "replay/read/sql.h"
#include "viz/models/work/hand_over.h"

#include <optional>

namespace uopscope {

struct Jobs::Lane {
  QThread thread;
  QObject* place = new QObject; // lives on the thread; goes when it ends
  // Touched on the thread only. Opened by the first question: most files are looked at with few lanes.
  std::string path;
  std::shared_ptr<const TraceOverview> known;
  std::unique_ptr<Trace> trace;
  std::shared_ptr<void> kept;
  uint64_t refreshed = 0;
  bool whole = false, reads = false;

  Trace* opened() {
    if (!trace && !path.empty()) {
      trace = std::make_unique<Trace>(path, std::move(known));
      addSqlFunctions(*trace);
    }
    return trace.get();
  }
  Answer run(const Work& work, const std::atomic<bool>& stop,
             std::function<void(double, const QString&)> progress) {
    if (stop || (reads && !opened())) return {};
    Job job{opened(), stop, std::move(progress), kept, refreshed};
    std::optional<Interrupt> whenStale;
    if (job.reader && !whole) whenStale.emplace(*job.reader, [&job] { return job.stale(); });
    return work(job);
  }
};

Jobs::Jobs(QObject* parent) : QObject(parent) {
  addLane();
}

Jobs::Jobs(int lanes, std::function<int(int)> laneOf, int whole, QObject* parent)
    : QObject(parent), laneOf_(std::move(laneOf)) {
  for (int i = 0; i < lanes; ++i) {
    addLane();
    lanes_.back()->reads = true;
    lanes_.back()->whole = i == whole;
  }
}

void Jobs::addLane() {
  auto l = std::make_unique<Lane>();
  l->place->moveToThread(&l->thread);
  connect(&l->thread, &QThread::finished, l->place, &QObject::deleteLater);
  // Nothing recurses over graphs, but SQLite and Qt want more than the small default of some systems.
  l->thread.setStackSize(16 << 20);
  threadEnds(l->thread, l.get());
  l->thread.start();
  lanes_.push_back(std::move(l));
}

Jobs::~Jobs() {
  cancelAll();
  for (auto& l : lanes_) l->thread.quit();
  for (auto& l : lanes_) {
    l->thread.wait();
    joined(l.get());
  }
}

void Jobs::open(const QString& path, const std::shared_ptr<const TraceOverview>& known) {
  cancelAll();
  for (auto& l : lanes_)
    handOver(l->place, [lane = l.get(), path, known] {
      lane->kept.reset();
      lane->trace.reset();
      lane->path = path.toStdString();
      lane->known = known;
    });
}

void Jobs::know(const std::shared_ptr<const TraceOverview>& overview) {
  for (auto& l : lanes_) handOver(l->place, [lane = l.get(), overview] { lane->known = overview; });
}

void Jobs::refresh(const std::shared_ptr<const TraceOverview>& fresh) {
  for (auto& l : lanes_)
    handOver(l->place, [lane = l.get(), fresh] {
      try {
        if (lane->trace && lane->trace->refresh(fresh)) ++lane->refreshed;
      } catch (const std::exception&) { // the reader of the window meets it too, and reports it
      }
    });
}

void Jobs::stop(int channel) {
  const auto it = newest_.find(channel);
  if (it == newest_.end()) return;
  *it->second = true;
  newest_.erase(it);
}

void Jobs::cancelAll() {
  while (!newest_.empty()) stop(newest_.begin()->first);
}

void Jobs::post(int channel, Work work, std::function<void(QString)> onFailure) {
  stop(channel);
  const Flag flag = newest_[channel] = std::make_shared<std::atomic<bool>>(false);
  ++pending_;
  Q_EMIT idleChanged();
  Lane* lane = lanes_[static_cast<size_t>(laneOf_(channel))].get();
  handOver(lane->place,
           [this, lane, flag, channel, work = std::move(work), onFailure = std::move(onFailure)] {
             Answer answer;
             QString problem;
             try {
               answer = lane->run(work, *flag, [this, flag, channel](double share, const QString& what) {
                 handOver(this, [this, flag, channel, share, what] {
                   if (!*flag) Q_EMIT progressed(channel, share, what);
                 });
               });
             } catch (const std::exception& e) {
               problem = QString::fromUtf8(e.what());
             }
             handOver(this, [this, flag, channel, answer, problem, onFailure] {
               --pending_;
               if (!*flag) {
                 newest_.erase(channel);
                 if (answer) answer();
                 if (!problem.isEmpty() && onFailure) onFailure(problem);
                 if (!problem.isEmpty() && !onFailure) Q_EMIT failed(problem);
               }
               Q_EMIT idleChanged();
             });
           });
}

} // namespace uopscope
