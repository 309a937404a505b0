// The run on a time axis: scopes and passes nested, parts of kernels, launches by device, and memory with the
// life of each buffer. Spans of a lane do not overlap. A selected interval of time is summed up.
//
//   TimelineModel t(session);  t.load();  t.select(begin, end);  t.totals()
#pragma once
#include "viz/models/session/session.h"

namespace uopscope {

struct TimelineSpan {
  uint32_t lane = 0;
  int64_t begin = 0, end = 0;
  std::string name, kind; ///< "schedule", "kernel", "pass", "phase", "launch"
  ScopeId scope = 0;
  PassId pass = 0;
  std::string detail;
  std::vector<int64_t> buffers; ///< of a launch; a view counts as the buffer it is a part of
};
struct TimelineData {
  std::vector<std::string> lanes;
  std::vector<TimelineSpan> spans; ///< by lane, then by begin
  struct Buffer {
    int64_t begin = 0, end = 0, bytes = 0, offset = 0; ///< offset: its place in the stack
    int64_t id = 0;
    std::string device;
  };
  std::vector<Buffer> buffers;
  std::vector<std::pair<int64_t, int64_t>> memory; ///< a time, and the bytes from then on
  int64_t begin = 0, end = 1, peak = 0;
  int64_t first = 0; ///< begin of the first span; the script alone ran before it
};
using TimelinePtr = std::shared_ptr<const TimelineData>;
TimelinePtr buildTimeline(Trace& trace);

class TimelineModel : public QObject {
  Q_OBJECT
  Q_PROPERTY(bool ready READ ready NOTIFY changed)
  /// The visible interval, in ns of the trace's clock.
  Q_PROPERTY(double from READ from NOTIFY viewChanged)
  Q_PROPERTY(double to READ to NOTIFY viewChanged)
  /// [{name, count, time}] of the selected interval, and a line about it.
  Q_PROPERTY(QVariantList totals READ totals NOTIFY selectionChanged)
  Q_PROPERTY(QString selection READ selection NOTIFY selectionChanged)

public:
  explicit TimelineModel(Session& session, QObject* parent = nullptr);
  bool ready() const { return data_ != nullptr; }
  const TimelinePtr& data() const { return data_; }
  double from() const { return from_; }
  double to() const { return to_; }
  QVariantList totals() const { return totals_; }
  QString selection() const { return selection_; }
  double selectedFrom() const { return selectedFrom_; }
  double selectedTo() const { return selectedTo_; }
  /// Buffers of the selected launch, or the selected buffer: ids, sorted.
  const std::vector<int64_t>& buffers() const { return buffers_; }
  Q_INVOKABLE void load();
  Q_INVOKABLE void show(double from, double to);
  Q_INVOKABLE void showAll();
  /// Shows the time from the first schedule or launch on.
  Q_INVOKABLE void showWork();
  /// Shows the kernel or schedule in front, and its launches; everything where it has neither.
  Q_INVOKABLE void showScope();
  /// Makes the visible stretch longer or shorter around its middle; moves it by a share of its length.
  Q_INVOKABLE void zoomBy(double factor);
  Q_INVOKABLE void moveBy(double share);
  Q_INVOKABLE void select(double from, double to);
  /// Selects the interval of a span; for a launch, its buffers too.
  Q_INVOKABLE void selectSpan(int span);
  /// Selects the life of a buffer, and the launches that use it.
  Q_INVOKABLE void selectBuffer(int buffer);
  Q_INVOKABLE void follow(int span);
  Q_INVOKABLE QString describe(int span) const;
  Q_INVOKABLE QString describeBuffer(int buffer) const;
  /// Writes the totals as .csv or .json. Returns an error text, empty on success.
  Q_INVOKABLE QString exportTotals(const QString& path) const;

Q_SIGNALS:
  void changed();
  void viewChanged();
  void selectionChanged();

private:
  struct Sum {
    int64_t count = 0, ns = 0;
  };
  void setTotals(const std::map<std::string, Sum>& sums);
  Session& session_;
  TimelinePtr data_;
  ScopeId scope_ = 0; ///< the scope in front when it was shown last
  std::vector<int64_t> buffers_;
  double from_ = 0, to_ = 1, selectedFrom_ = 0, selectedTo_ = 0;
  QVariantList totals_;
  QString selection_;
};

} // namespace uopscope
