// Everything that may take longer than a frame, on one thread with a trace of its own: layouts, provenance,
// statistics, long texts. Of each kind of question only the newest is answered; a layout under way is
// cancelled by the next one.
//
//   Worker worker;
//   connect(&worker, &Worker::pictureReady, ...);
//   worker.open(path);  worker.askPicture({pass, step});
#pragma once
#include "viz/models/work/reports.h"

#include <QObject>
#include <QThread>
#include <array>
#include <atomic>
#include <list>

namespace uopscope {

struct PictureQuestion {
  PassId pass = 0;
  int64_t step = 0, interval = 1;
  ViewOptions options;
  Arrangement arrangement;
  NodeId follow = kNoNode; ///< a node of another step: the answer says which node it is in this one
};
struct StatsQuestion {
  MatchGroup group = MatchGroup::Rule;
  ScopeId scope = 0;
  PassId pass = 0;
};
/// A row of the statistics, ready to be shown.
struct StatsRow {
  QString name, place, text;
  RuleId rule = 0;
  MatchTotals totals;
};

/// What runs on the thread. Use Worker.
class WorkerTasks : public QObject {
  Q_OBJECT
public:
  enum Kind { Picture, Node, Stats, Text, kKinds };
  std::array<std::atomic<quint64>, kKinds> newest{};
  std::atomic<bool> cancelLayout{false};

  void open(const QString& path, std::shared_ptr<const TraceOverview> known);
  void refresh();
  void picture(quint64 number, const PictureQuestion& question);
  void node(quint64 number, const PictureQuestion& question, NodeId node);
  void stats(quint64 number, const StatsQuestion& question);
  void text(quint64 number, ScopeId scope, const QString& kind);

Q_SIGNALS:
  void pictureReady(std::shared_ptr<const uopscope::Picture> picture, QVariantMap step, qlonglong followed);
  void nodeReady(qlonglong node, QVariantMap report);
  void statsReady(std::shared_ptr<std::vector<uopscope::StatsRow>> rows);
  void textReady(qlonglong scope, QString kind, QString text, bool exists);
  void failed(QString what);

private:
  bool stale(Kind kind, quint64 number) const { return newest[kind].load() != number; }
  std::shared_ptr<PassView> view(const PictureQuestion& question);
  Provenance* provenance(ScopeId scope);
  NodeId follow(PassView& view, NodeId node, const uopscope::Picture& picture);
  template <typename F>
  void guarded(F f);

  std::unique_ptr<Trace> trace_;
  std::list<std::shared_ptr<PassView>> views_; ///< newest first
  std::unique_ptr<Provenance> provenance_;
  ScopeId provenanceScope_ = -1;
};

class Worker : public QObject {
  Q_OBJECT
public:
  explicit Worker(QObject* parent = nullptr);
  ~Worker() override;

  /// `known`: the overview of a reader that has the file open already.
  void open(const QString& path, std::shared_ptr<const TraceOverview> known = {});
  void refresh();
  void askPicture(const PictureQuestion& question);
  void askNode(const PictureQuestion& question, NodeId node);
  void askStats(const StatsQuestion& question);
  void askText(ScopeId scope, const QString& kind);
  /// Nothing asked is unanswered.
  bool idle() const { return pending_ == 0; }
  bool drawing() const { return pictures_ > 0; }

Q_SIGNALS:
  void pictureReady(std::shared_ptr<const uopscope::Picture> picture, QVariantMap step, qlonglong followed);
  void nodeReady(qlonglong node, QVariantMap report);
  void statsReady(std::shared_ptr<std::vector<uopscope::StatsRow>> rows);
  void textReady(qlonglong scope, QString kind, QString text, bool exists);
  void failed(QString what);
  void idleChanged();

private:
  template <typename F>
  void post(F task, bool picture = false);
  QThread thread_;
  WorkerTasks* tasks_;
  quint64 number_ = 0;
  int pending_ = 0, pictures_ = 0;
};

} // namespace uopscope

Q_DECLARE_METATYPE(std::shared_ptr<const uopscope::Picture>)
Q_DECLARE_METATYPE(std::shared_ptr<std::vector<uopscope::StatsRow>>)
