// Pictures, reports, statistics and texts of the place one is at, made on a lane of the jobs. Layouts are kept
// there: stepping back and forth over the boundary of a pass lays out nothing again.
//
//   Pictures pictures(readers.jobs());
//   connect(&pictures, &Pictures::pictureReady, ...);
//   pictures.askPicture({pass, step});
#pragma once
#include "viz/models/work/line_registers.h"
#include "viz/models/work/readers.h"
#include "viz/models/work/reports.h"

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

class Pictures : public QObject {
  Q_OBJECT
public:
  explicit Pictures(Jobs& jobs, QObject* parent = nullptr) : QObject(parent), jobs_(jobs) {}
  void askPicture(const PictureQuestion& question);
  void askNode(const PictureQuestion& question, NodeId node);
  void askStats(const StatsQuestion& question);
  void askText(ScopeId scope, const QString& kind);
  bool drawing() const { return jobs_.busy(Channel::Picture); }

Q_SIGNALS:
  void pictureReady(std::shared_ptr<const uopscope::Picture> picture, QVariantMap step, qlonglong followed);
  void nodeReady(qlonglong node, QVariantMap report);
  void statsReady(std::shared_ptr<std::vector<uopscope::StatsRow>> rows);
  void textReady(qlonglong scope, QString kind, QString text, bool exists,
                 std::shared_ptr<const uopscope::LineRegisters> registers);

private:
  Jobs& jobs_;
};

} // namespace uopscope
