// Tools of a session beyond viewing. Each tool is a separate object that knows the session and no other tool.
// Actions that the session does not handle arrive here.
//
//   Session session;  Tools tools(session);  session.trigger("hide");
#pragma once
#include "viz/models/code/linked.h"
#include "viz/models/code/llvm_passes_model.h"
#include "viz/models/compare/compare_model.h"
#include "viz/models/compare/experiment_model.h"
#include "viz/models/compare/replay_model.h"
#include "viz/models/graph/checker.h"
#include "viz/models/graph/graph_tools.h"
#include "viz/models/graph/why.h"
#include "viz/models/lab/bisect_model.h"
#include "viz/models/lab/candidates_model.h"
#include "viz/models/lab/hand_model.h"
#include "viz/models/lab/roofline_model.h"
#include "viz/models/lab/rule_model.h"
#include "viz/models/lab/story_teller.h"
#include "viz/models/lab/values_model.h"
#include "viz/models/lab/warp_model.h"
#include "viz/models/lab/what_if_model.h"
#include "viz/models/numbers/profile.h"
#include "viz/models/numbers/sql_model.h"
#include "viz/models/numbers/timeline.h"
#include "viz/models/record/live_control.h"
#include "viz/models/record/script_editor.h"
#include "viz/models/session/bookmarks.h"
#include "viz/models/session/conditions.h"
#include "viz/models/session/file_chooser.h"

namespace uopscope {

class Tools : public QObject {
  Q_OBJECT
  Q_PROPERTY(uopscope::GraphTools* graph READ graph CONSTANT)
  Q_PROPERTY(uopscope::Conditions* conditions READ conditions CONSTANT)
  Q_PROPERTY(uopscope::Bookmarks* bookmarks READ bookmarks CONSTANT)
  Q_PROPERTY(uopscope::SqlModel* sql READ sql CONSTANT)
  Q_PROPERTY(uopscope::ProfileModel* profile READ profile CONSTANT)
  Q_PROPERTY(uopscope::WhyModel* why READ why CONSTANT)
  Q_PROPERTY(uopscope::Checker* checker READ checker CONSTANT)
  Q_PROPERTY(uopscope::CompareModel* compare READ compare CONSTANT)
  Q_PROPERTY(uopscope::LiveControl* live READ live CONSTANT)
  Q_PROPERTY(uopscope::TimelineModel* timeline READ timeline CONSTANT)
  Q_PROPERTY(uopscope::LinkedPanes* linked READ linked CONSTANT)
  Q_PROPERTY(uopscope::LlvmPassesModel* llvm READ llvm CONSTANT)
  Q_PROPERTY(uopscope::WarpModel* warp READ warp CONSTANT)
  Q_PROPERTY(uopscope::RooflineModel* roofline READ roofline CONSTANT)
  Q_PROPERTY(uopscope::WhatIfModel* whatIf READ whatIf CONSTANT)
  Q_PROPERTY(uopscope::HandModel* hand READ hand CONSTANT)
  Q_PROPERTY(uopscope::ValuesModel* values READ values CONSTANT)
  Q_PROPERTY(uopscope::RuleModel* rule READ rule CONSTANT)
  Q_PROPERTY(uopscope::StoryTeller* story READ story CONSTANT)
  Q_PROPERTY(uopscope::BisectModel* bisect READ bisect CONSTANT)
  Q_PROPERTY(uopscope::CandidatesModel* candidates READ candidates CONSTANT)
  Q_PROPERTY(uopscope::ScriptEditor* editor READ editor CONSTANT)
  Q_PROPERTY(uopscope::ReplayModel* replay READ replay CONSTANT)
  Q_PROPERTY(uopscope::ExperimentModel* experiment READ experiment CONSTANT)
  Q_PROPERTY(uopscope::FileChooser* files READ files CONSTANT)
  Q_PROPERTY(bool playing READ playing NOTIFY playChanged)
  /// Steps a second.
  Q_PROPERTY(qreal speed READ speed WRITE setSpeed NOTIFY playChanged)

public:
  explicit Tools(Session& session, QObject* parent = nullptr);
  ~Tools() override;
  GraphTools* graph() { return &graph_; }
  Conditions* conditions() { return &conditions_; }
  Bookmarks* bookmarks() { return &bookmarks_; }
  SqlModel* sql() { return &sql_; }
  ProfileModel* profile() { return &profile_; }
  WhyModel* why() { return &why_; }
  Checker* checker() { return &checker_; }
  CompareModel* compare() { return &compare_; }
  LiveControl* live() { return &live_; }
  TimelineModel* timeline() { return &timeline_; }
  LinkedPanes* linked() { return &linked_; }
  LlvmPassesModel* llvm() { return &llvm_; }
  WarpModel* warp() { return &warp_; }
  RooflineModel* roofline() { return &roofline_; }
  WhatIfModel* whatIf() { return &whatIf_; }
  HandModel* hand() { return &hand_; }
  ValuesModel* values() { return &values_; }
  RuleModel* rule() { return &rule_; }
  StoryTeller* story() { return &story_; }
  BisectModel* bisect() { return &bisect_; }
  CandidatesModel* candidates() { return &candidates_; }
  ScriptEditor* editor() { return &editor_; }
  ReplayModel* replay() { return &replay_; }
  ExperimentModel* experiment() { return &experiment_; }
  FileChooser* files() { return &files_; }
  bool playing() const { return clock_.isActive(); }
  qreal speed() const { return speed_; }
  void setSpeed(qreal speed);
  bool trigger(const QString& action);

Q_SIGNALS:
  void playChanged();

private:
  void play();
  void recordPaused();
  Session& session_;
  GraphTools graph_;
  Conditions conditions_;
  Bookmarks bookmarks_;
  SqlModel sql_;
  ProfileModel profile_;
  WhyModel why_;
  Checker checker_;
  CompareModel compare_;
  LiveControl live_;
  TimelineModel timeline_;
  LinkedPanes linked_;
  LlvmPassesModel llvm_;
  WarpModel warp_;
  RooflineModel roofline_;
  WhatIfModel whatIf_;
  HandModel hand_;
  ValuesModel values_;
  RuleModel rule_;
  StoryTeller story_;
  BisectModel bisect_;
  CandidatesModel candidates_;
  ScriptEditor editor_;
  ReplayModel replay_;
  ExperimentModel experiment_;
  FileChooser files_;
  QTimer clock_;
  qreal speed_ = 4;
};

} // namespace uopscope
