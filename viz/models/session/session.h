// The state of one window: trace, kernel, pass, step, node and tab, the content of its panes, and the
// history. It uses no Qt Quick, so tests drive it without a screen. The worker does everything that takes
// time; answers arrive as signals.
//
//   Session s;  s.open("run.uoptrace");  s.trigger("next-step");  s.link()  //
//   "kernel=r_16&pass=devectorize&step=1"
#pragma once
#include "viz/models/code/code_model.h"
#include "viz/models/graph/graph_source.h"
#include "viz/models/numbers/stats_model.h"
#include "viz/models/record/recording_process.h"
#include "viz/models/session/jump.h"
#include "viz/models/session/place.h"
#include "viz/models/session/preferences.h"
#include "viz/models/session/step_list_model.h"
#include "viz/models/session/trace_tree_model.h"
#include "viz/models/work/pictures.h"

#include <QSize>
#include <QTimer>

namespace uopscope {

class Session : public QObject {
  Q_OBJECT
  /// "empty", "opening", "recording" (no content yet), "ready" or "error"
  Q_PROPERTY(QString state READ state NOTIFY stateChanged)
  Q_PROPERTY(QString errorText READ errorText NOTIFY stateChanged)
  Q_PROPERTY(QString path READ path NOTIFY stateChanged)
  Q_PROPERTY(QString fileName READ fileName NOTIFY stateChanged)
  /// One sentence about a recording that did not end well.
  Q_PROPERTY(QString warning READ warning NOTIFY stateChanged)
  /// The exception of the script: {text, line (0: not in the script)}; empty otherwise.
  Q_PROPERTY(QVariantMap failure READ failure NOTIFY stateChanged)
  /// Whether the script's output is available: of a running recording, or kept in the trace.
  Q_PROPERTY(bool hasOutput READ hasOutput NOTIFY stateChanged)
  Q_PROPERTY(bool growing READ growing NOTIFY stateChanged)
  Q_PROPERTY(QVariantMap summary READ summary NOTIFY stateChanged)
  Q_PROPERTY(QString notice READ notice NOTIFY noticeChanged)

  Q_PROPERTY(qlonglong scope READ scope NOTIFY placeChanged)
  Q_PROPERTY(qlonglong pass READ pass NOTIFY placeChanged)
  Q_PROPERTY(qlonglong step READ step WRITE setStep NOTIFY placeChanged)
  Q_PROPERTY(qlonglong stepCount READ stepCount NOTIFY placeChanged)
  Q_PROPERTY(int interval READ interval WRITE setInterval NOTIFY placeChanged)
  Q_PROPERTY(QString scopeName READ scopeName NOTIFY placeChanged)
  Q_PROPERTY(QString scopeKind READ scopeKind NOTIFY placeChanged)
  Q_PROPERTY(QString passName READ passName NOTIFY placeChanged)
  Q_PROPERTY(QString passPlace READ passPlace NOTIFY placeChanged)
  Q_PROPERTY(QString passProblem READ passProblem NOTIFY placeChanged)
  Q_PROPERTY(QString tab READ tab WRITE setTab NOTIFY placeChanged)
  Q_PROPERTY(qlonglong node READ node WRITE setNode NOTIFY nodeChanged)
  Q_PROPERTY(QVariantMap nodeInfo READ nodeInfo NOTIFY nodeChanged)
  Q_PROPERTY(QVariantMap stepInfo READ stepInfo NOTIFY stepInfoChanged)
  Q_PROPERTY(QString link READ link NOTIFY placeChanged)
  Q_PROPERTY(bool canGoBack READ canGoBack NOTIFY placeChanged)
  Q_PROPERTY(bool canGoForward READ canGoForward NOTIFY placeChanged)
  Q_PROPERTY(bool busy READ busy NOTIFY busyChanged)
  Q_PROPERTY(bool foldLabels READ foldLabels WRITE setFoldLabels NOTIFY optionsChanged)
  /// Whether each step gets a small layout of its own, in which nodes move. Otherwise the pass has one
  /// layout.
  Q_PROPERTY(bool stepAlone READ stepAlone WRITE setStepAlone NOTIFY optionsChanged)
  /// "layered" or "dot": who lays out graphs, uopscope or Graphviz; kept between runs
  Q_PROPERTY(QString layoutBy READ layoutBy WRITE setLayoutBy NOTIFY optionsChanged)
  Q_PROPERTY(bool leftToRight READ leftToRight WRITE setLeftToRight NOTIFY optionsChanged)
  /// "rule", "pass" or "op"; "trace", "kernel" or "pass"
  Q_PROPERTY(QString statsGroup READ statsGroup WRITE setStatsGroup NOTIFY statsChanged)
  Q_PROPERTY(QString statsRange READ statsRange WRITE setStatsRange NOTIFY statsChanged)

  Q_PROPERTY(uopscope::TraceTreeModel* tree READ tree CONSTANT)
  Q_PROPERTY(uopscope::StepListModel* steps READ steps CONSTANT)
  Q_PROPERTY(uopscope::StatsModel* stats READ stats CONSTANT)
  Q_PROPERTY(uopscope::CodeModel* code READ code CONSTANT)
  Q_PROPERTY(uopscope::CodeModel* scriptCode READ scriptCode CONSTANT)
  Q_PROPERTY(uopscope::Jump* jump READ jump CONSTANT)
  Q_PROPERTY(uopscope::Preferences* preferences READ preferences CONSTANT)
  Q_PROPERTY(uopscope::GraphSource* graph READ graph CONSTANT)
  Q_PROPERTY(uopscope::RecordingProcess* recorder READ recorder CONSTANT)

public:
  explicit Session(QObject* parent = nullptr);
  ~Session() override;

  /// Sets the program that records; the default is this program, and tests set another.
  void setRecorderProgram(const QString& program) { program_ = program; }
  /// Sets a function that gets every action first; it returns true if it handled the action.
  void setActionFilter(std::function<bool(const QString&)> filter) { actionFilter_ = std::move(filter); }

  /// Opens a trace, or records a script and opens its trace.
  Q_INVOKABLE void open(const QString& path);
  /// Opens a file and goes to a link; a script is recorded to its end first.
  Q_INVOKABLE void openAt(const QString& path, const QString& link);
  Q_INVOKABLE void close();
  Q_INVOKABLE void recordAgain();
  /// Goes to a link; reports a part that does not fit. Absent parts keep their present value.
  Q_INVOKABLE bool follow(const QString& link);
  Q_INVOKABLE void goToPass(qlonglong scope, qlonglong pass);
  Q_INVOKABLE void goTo(qlonglong pass, qlonglong step, qlonglong node = -1);
  Q_INVOKABLE void goToScope(qlonglong scope);
  /// Goes to a step by its number in the whole trace, which a job looks up.
  Q_INVOKABLE void goToTraceStep(qlonglong id, qlonglong node = -1);
  /// Goes to the trace's next step by this rule, from the present step on and around.
  Q_INVOKABLE void goToRule(qlonglong rule);
  /// Does an action of the table; uiAction passes on actions of the window.
  Q_INVOKABLE void trigger(const QString& action);
  Q_INVOKABLE void showNotice(const QString& text);

  QString state() const { return state_; }
  QString errorText() const { return error_; }
  QString path() const { return path_; }
  QString fileName() const;
  QString warning() const { return warning_; }
  QVariantMap failure() const { return failure_; }
  bool hasOutput() const { return hasOutput_ || !recorder_.output().isEmpty(); }
  /// The output of the script; of a long one, the end.
  Q_INVOKABLE QString outputText();
  bool growing() const { return growing_; }
  QVariantMap summary() const { return summary_; }
  QString notice() const { return notice_; }
  qlonglong scope() const { return at_.scope; }
  qlonglong pass() const { return at_.pass; }
  qlonglong step() const { return at_.step; }
  void setStep(qlonglong step);
  qlonglong stepCount() const { return steps_.count(); }
  /// Whether a move waits for the trace; moves by keys after it wait too, in order.
  bool moving() const;
  int interval() const { return at_.interval; }
  void setInterval(int steps);
  QString scopeName() const { return scopeName_; }
  QString scopeKind() const { return scopeKind_; }
  QString passName() const { return passName_; }
  QString passPlace() const { return passPlace_; }
  QString passProblem() const { return passProblem_; }
  QString tab() const { return at_.tab; }
  void setTab(const QString& tab);
  qlonglong node() const { return at_.node; }
  void setNode(qlonglong node);
  QVariantMap nodeInfo() const { return nodeInfo_; }
  QVariantMap stepInfo() const { return stepInfo_; }
  QString link() const;
  bool canGoBack() const { return history_.canGoBack(); }
  bool canGoForward() const { return history_.canGoForward(); }
  bool busy() const { return pictures_.drawing(); }
  /// Everything asked for is here; screenshots and tests wait for it.
  bool settled() const { return readers_.jobs().idle(); }
  bool foldLabels() const { return options_.foldConstants; }
  void setFoldLabels(bool on);
  QString layoutBy() const;
  void setLayoutBy(const QString& who);
  bool leftToRight() const { return options_.leftToRight; }
  bool stepAlone() const { return stepAlone_; }
  void setStepAlone(bool on);
  void setLeftToRight(bool on);
  /// The size of the graph's pane, in pixels at which a label is readable: a single step is laid out to fit
  /// it.
  Q_INVOKABLE void setGraphPane(qreal width, qreal height);
  QString statsGroup() const { return statsGroup_; }
  void setStatsGroup(const QString& group);
  QString statsRange() const { return statsRange_; }
  void setStatsRange(const QString& range);

  /// Whether this window recorded the open trace itself.
  bool ownRecording() const { return !recorder_.trace().isEmpty() && path_ == recorder_.trace(); }
  /// Null when nothing is open. What is known of it; all else is read by jobs().
  const TraceIndex* trace() const { return readers_.trace(); }
  Jobs& jobs() { return readers_.jobs(); }
  const Place& place() const { return at_; }
  /// To the last recorded step: where the engine is, or was when the script failed.
  Q_INVOKABLE void showLatest();
  /// A name for a file of the visible content: "matmul-r_16_16-devectorize-12.svg".
  Q_INVOKABLE QString suggestedName(const QString& ending) const;
  /// The present step by its number in the whole trace; at step 0, the step before the pass.
  StepId traceStep() const;
  const Arrangement& arrangement() const { return arrangement_; }
  void setArrangement(const Arrangement& arrangement);

  TraceTreeModel* tree() { return &tree_; }
  StepListModel* steps() { return &steps_; }
  StatsModel* stats() { return &stats_; }
  CodeModel* code() { return &code_; }
  CodeModel* scriptCode() { return &script_; }
  Jump* jump() { return &jump_; }
  Preferences* preferences() { return &preferences_; }
  GraphSource* graph() { return &graph_; }
  RecordingProcess* recorder() { return &recorder_; }

Q_SIGNALS:
  void stateChanged();
  void placeChanged();
  void nodeChanged();
  void stepInfoChanged();
  void busyChanged();
  void optionsChanged();
  void statsChanged();
  void noticeChanged();
  /// A request to the window: "search", "jump", "fit", "theme" ...
  void uiAction(const QString& id);
  /// A different trace, or none, is open now.
  void opened();
  /// The opened file is a corpus of compilations, not a trace.
  void corpusAsked(const QString& path);
  /// The opened file is an experiment (.uopbench).
  void experimentAsked(const QString& path);
  /// The trace grew, or its recording has ended.
  void grown();
  /// A link named a kept variant of what-if.
  void variantAsked(const QString& name);
  /// Asks the canvas to show the node.
  void focusAsked(qlonglong node);

private:
  void openTrace(const QString& path, bool unlessEmpty = false);
  void showOpened(const QString& path);
  void record(const QString& script);
  void fail(const QString& text);
  void tick();
  void lookForMore(std::function<void()> then = {});
  std::vector<ScopeId> scopesToRead() const;
  void followGrowth(TraceFacts facts);
  void loadSummary();
  void loadScript();
  void readLook();
  void loadFailure();
  void goToFirst();
  bool selectPass(ScopeId scope, PassId pass);
  void enterScope(ScopeId scope);
  void nameScope(const ScopeInfo& scope);
  void whenKnown(ScopeId scope, PassId pass, std::function<void()> then);
  void doQueued();
  bool go(const Place& place);
  void followAfter();
  void askPicture();
  void askTab();
  void remember();
  void movePass(int direction, bool toEnd = false);
  void moveScope(int direction, bool toEnd = false);
  void tryScope(std::ptrdiff_t number, int direction, bool toEnd);
  void walk(bool toSource);
  void walkInput(int k);
  void goToMaker();
  void goToOrigin();
  void stepInTrace(int direction);
  void leavePass(bool forward);
  void nextChanging(int direction);
  void goToDecided(int direction);
  void goToTouching(const std::set<NodeId>& nodes, int direction);
  bool triggerMove(const QString& action);
  std::vector<PassId> visiblePasses(ScopeId scope);
  PictureQuestion question() const;

  Readers readers_;
  Pictures pictures_{readers_.jobs()};
  Place at_;
  History history_;
  Arrangement arrangement_;
  RecordingProcess recorder_;
  QTimer clock_;
  TraceTreeModel tree_{readers_};
  StepListModel steps_{readers_};
  StatsModel stats_;
  CodeModel code_, script_;
  Preferences preferences_;
  Jump jump_;
  GraphSource graph_;
  ViewOptions options_;
  QSize pane_;

  QString state_ = QStringLiteral("empty"), error_, path_, warning_, notice_, program_;
  QString scopeName_, scopeKind_, passName_, passPlace_, passProblem_;
  Place entered_;     ///< where the trace was entered
  QString linkAfter_; ///< where openAt() leads when there is something to go to
  QString statsGroup_ = QStringLiteral("rule"), statsRange_ = QStringLiteral("trace"), codeShown_;
  QVariantMap nodeInfo_, stepInfo_, summary_, failure_;
  std::function<bool(const QString&)> actionFilter_;
  QStringList queued_; ///< actions that wait for a move
  bool doingQueued_ = false;
  bool stepAlone_ = true;
  bool growing_ = false, travelling_ = false, nodeAsked_ = false;
  bool hasOutput_ = false;
};

} // namespace uopscope
