#include "viz/models/work/worker.h"

#include <algorithm>

namespace uopscope {
namespace {

// Passes whose layout is kept: stepping back and forth over a pass boundary must not lay out again.
constexpr size_t kKeptViews = 6;

} // namespace

template <typename F>
void WorkerTasks::guarded(F f) {
  try {
    f();
  } catch (const std::exception& e) {
    Q_EMIT failed(QString::fromUtf8(e.what()));
  }
}

void WorkerTasks::open(const QString& path, std::shared_ptr<const TraceOverview> known) {
  guarded([&] {
    views_.clear();
    provenance_.reset();
    provenanceScope_ = -1;
    trace_.reset();
    if (!path.isEmpty()) trace_ = std::make_unique<Trace>(path.toStdString(), std::move(known));
  });
}

void WorkerTasks::refresh() {
  guarded([&] {
    if (!trace_ || !trace_->refresh()) return;
    provenance_.reset();
    provenanceScope_ = -1;
    // A pass that was still going on has more steps now: its layout is made anew.
    views_.remove_if([&](const auto& v) { return trace_->pass(v->pass()).steps != v->steps(); });
  });
}

std::shared_ptr<PassView> WorkerTasks::view(const PictureQuestion& question) {
  for (auto it = views_.begin(); it != views_.end(); ++it)
    if ((*it)->pass() == question.pass && (*it)->options() == question.options) {
      views_.splice(views_.begin(), views_, it);
      return views_.front();
    }
  auto fresh = std::make_shared<PassView>(*trace_, question.pass, question.options);
  if (!fresh->prepare(&cancelLayout)) return nullptr;
  views_.push_front(fresh);
  if (views_.size() > kKeptViews) views_.pop_back();
  return fresh;
}

Provenance* WorkerTasks::provenance(ScopeId scope) {
  if (!provenance_ || provenanceScope_ != scope) {
    provenance_ = std::make_unique<Provenance>(*trace_, scope);
    provenanceScope_ = scope;
  }
  return provenance_.get();
}

// A node of another pass is looked for by what it was made from and what became of it, nearest first.
NodeId WorkerTasks::follow(PassView& v, NodeId node, const uopscope::Picture& picture) {
  const NodeId here = v.counterpart(node, picture);
  if (here != kNoNode || node == kNoNode || node >= kFirstViewNode) return here;
  try {
    Provenance* p = provenance(v.cursor().info().scope);
    for (const auto& links : {p->fate(node), p->chain(node)})
      for (const ProvenanceLink& l : links)
        for (const NodeId candidate : {l.node, l.from})
          if (candidate != kNoNode && v.counterpart(candidate, picture) != kNoNode)
            return v.counterpart(candidate, picture);
  } catch (const Error&) { // a node of another scope: it has no story in this one
  }
  return kNoNode;
}

void WorkerTasks::picture(quint64 number, const PictureQuestion& question) {
  if (stale(Picture, number) || !trace_) return;
  cancelLayout = false;
  if (stale(Picture, number)) return;
  guarded([&] {
    const auto v = view(question);
    if (!v || !v->arrange(question.arrangement, &cancelLayout) || stale(Picture, number)) return;
    auto picture = v->at(question.step, question.interval);
    QVariantMap step = stepReport(*trace_, *v, std::clamp<int64_t>(question.step, 0, v->steps()));
    if (stale(Picture, number)) return;
    NodeId followed = follow(*v, question.follow, *picture);
    const bool leavesOut =
        picture->map && (picture->elsewhere || picture->foldedExpressions || picture->groups);
    if (followed == kNoNode && question.follow != kNoNode && leavesOut) {
      // What one looks at is drawn, however far it is from the change and whatever would stand for it.
      Arrangement with = question.arrangement;
      with.kept = followed = follow(*v, question.follow, *picture->map);
      if (followed != kNoNode) {
        if (!v->arrange(with, &cancelLayout) || stale(Picture, number)) return;
        picture = v->at(question.step, question.interval);
        if (!picture->find(followed)) followed = kNoNode;
      }
    }
    Q_EMIT pictureReady(std::move(picture), std::move(step),
                        followed == kNoNode ? -1 : static_cast<qlonglong>(followed));
  });
}

void WorkerTasks::node(quint64 number, const PictureQuestion& question, NodeId node) {
  if (stale(Node, number) || !trace_) return;
  guarded([&] {
    const auto v = view(question);
    if (!v || stale(Node, number)) return;
    if (static_cast<int64_t>(node) >= kFirstGroupId) {
      Q_EMIT nodeReady(static_cast<qlonglong>(node), groupReport(*v, node));
      return;
    }
    QVariantMap report = nodeReport(*trace_, *v, question.step, node, provenance(v->cursor().info().scope));
    Q_EMIT nodeReady(static_cast<qlonglong>(node), std::move(report));
  });
}

void WorkerTasks::stats(quint64 number, const StatsQuestion& question) {
  if (stale(Stats, number) || !trace_) return;
  guarded([&] {
    auto rows = std::make_shared<std::vector<StatsRow>>();
    for (const MatchTotals& t : trace_->matchTotals(question.group, question.scope, question.pass)) {
      StatsRow row;
      row.totals = t;
      row.rule = t.rule;
      if (question.group == MatchGroup::Rule && t.rule) {
        const RuleInfo& r = trace_->rule(t.rule);
        row.name = QString::fromStdString(r.name);
        row.place = shortPlace(r.at);
        row.text = QString::fromStdString(r.text);
      } else if (t.scope) {
        const ScopeInfo& s = trace_->scope(t.scope);
        row.name = QString::fromStdString(s.name);
        row.place = shortPlace(s.script);
      } else {
        row.name = QString::fromStdString(question.group == MatchGroup::Pass ? t.passName : t.op);
      }
      rows->push_back(std::move(row));
    }
    Q_EMIT statsReady(rows);
  });
}

void WorkerTasks::text(quint64 number, ScopeId scope, const QString& kind) {
  if (stale(Text, number) || !trace_) return;
  guarded([&] {
    const auto text = trace_->artifact(scope, kind.toStdString());
    Q_EMIT textReady(scope, kind, QString::fromStdString(text.value_or("")), text.has_value());
  });
}

Worker::Worker(QObject* parent) : QObject(parent), tasks_(new WorkerTasks) {
  qRegisterMetaType<std::shared_ptr<const Picture>>();
  qRegisterMetaType<std::shared_ptr<std::vector<StatsRow>>>();
  tasks_->moveToThread(&thread_);
  connect(&thread_, &QThread::finished, tasks_, &QObject::deleteLater);
  connect(tasks_, &WorkerTasks::pictureReady, this, &Worker::pictureReady);
  connect(tasks_, &WorkerTasks::nodeReady, this, &Worker::nodeReady);
  connect(tasks_, &WorkerTasks::statsReady, this, &Worker::statsReady);
  connect(tasks_, &WorkerTasks::textReady, this, &Worker::textReady);
  connect(tasks_, &WorkerTasks::failed, this, &Worker::failed);
  // Layouts of deep graphs recurse nowhere, but SQLite and Qt want more than the small default of some
  // systems.
  thread_.setStackSize(8 << 20);
  thread_.start();
}

Worker::~Worker() {
  for (auto& n : tasks_->newest) n = ~quint64{0};
  tasks_->cancelLayout = true;
  thread_.quit();
  thread_.wait();
}

template <typename F>
void Worker::post(F task, bool picture) {
  ++pending_;
  pictures_ += picture;
  QMetaObject::invokeMethod(tasks_, [this, task = std::move(task), picture] {
    task();
    QMetaObject::invokeMethod(this, [this, picture] {
      --pending_;
      pictures_ -= picture;
      Q_EMIT idleChanged();
    });
  });
  Q_EMIT idleChanged();
}

void Worker::open(const QString& path, std::shared_ptr<const TraceOverview> known) {
  for (auto& n : tasks_->newest) n = ++number_;
  tasks_->cancelLayout = true;
  post([t = tasks_, path, known = std::move(known)] { t->open(path, known); });
}

void Worker::refresh() {
  post([t = tasks_] { t->refresh(); });
}

void Worker::askPicture(const PictureQuestion& question) {
  const quint64 n = ++number_;
  tasks_->newest[WorkerTasks::Picture] = n;
  tasks_->cancelLayout = true;
  post([t = tasks_, n, question] { t->picture(n, question); }, true);
}

void Worker::askNode(const PictureQuestion& question, NodeId node) {
  const quint64 n = ++number_;
  tasks_->newest[WorkerTasks::Node] = n;
  post([t = tasks_, n, question, node] { t->node(n, question, node); });
}

void Worker::askStats(const StatsQuestion& question) {
  const quint64 n = ++number_;
  tasks_->newest[WorkerTasks::Stats] = n;
  post([t = tasks_, n, question] { t->stats(n, question); });
}

void Worker::askText(ScopeId scope, const QString& kind) {
  const quint64 n = ++number_;
  tasks_->newest[WorkerTasks::Text] = n;
  post([t = tasks_, n, scope, kind] { t->text(n, scope, kind); });
}

} // namespace uopscope
