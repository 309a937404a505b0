// Declares models of the session as types of the QML module uopscope.core, so that qmllint and the QML engine
// know their properties. viz/models itself knows no QML; this file names each type once.
//
//   import uopscope.core
//   property CodeModel model        // a type that only the session makes
//   Session.code                    // a singleton: the one of this engine, set by setUpEngine
#pragma once
#include "viz/models/session/tools.h"
#include "viz/scene/theme.h"

#include <QQmlEngine>

namespace uopscope {

/// The objects behind the singletons of an engine.
namespace singletons {
inline constexpr const char* kTheme = "uopscopeTheme";
inline constexpr const char* kSession = "uopscopeSession";
inline constexpr const char* kTools = "uopscopeTools";

template <typename T>
T* of(QQmlEngine* engine, const char* name) {
  auto* object = engine->property(name).value<QObject*>();
  QJSEngine::setObjectOwnership(object, QJSEngine::CppOwnership);
  return static_cast<T*>(object);
}
} // namespace singletons

struct ThemeSingleton {
  Q_GADGET
  QML_FOREIGN(uopscope::Theme)
  QML_NAMED_ELEMENT(Theme)
  QML_SINGLETON

public:
  static Theme* create(QQmlEngine* engine, QJSEngine*) {
    return singletons::of<Theme>(engine, singletons::kTheme);
  }
};

struct SessionSingleton {
  Q_GADGET
  QML_FOREIGN(uopscope::Session)
  QML_NAMED_ELEMENT(Session)
  QML_SINGLETON

public:
  static Session* create(QQmlEngine* engine, QJSEngine*) {
    return singletons::of<Session>(engine, singletons::kSession);
  }
};

struct ToolsSingleton {
  Q_GADGET
  QML_FOREIGN(uopscope::Tools)
  QML_NAMED_ELEMENT(Tools)
  QML_SINGLETON

public:
  static Tools* create(QQmlEngine* engine, QJSEngine*) {
    return singletons::of<Tools>(engine, singletons::kTools);
  }
};

struct GraphSourceType {
  Q_GADGET
  QML_FOREIGN(uopscope::GraphSource)
  QML_NAMED_ELEMENT(GraphSource)
  QML_UNCREATABLE("made by the session")
};

struct TraceTreeModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::TraceTreeModel)
  QML_NAMED_ELEMENT(TraceTreeModel)
  QML_UNCREATABLE("made by the session")
};

struct StepListModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::StepListModel)
  QML_NAMED_ELEMENT(StepListModel)
  QML_UNCREATABLE("made by the session")
};

struct StatsModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::StatsModel)
  QML_NAMED_ELEMENT(StatsModel)
  QML_UNCREATABLE("made by the session")
};

struct CodeModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::CodeModel)
  QML_NAMED_ELEMENT(CodeModel)
  QML_UNCREATABLE("made by the session")
};

struct PaletteModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::PaletteModel)
  QML_NAMED_ELEMENT(PaletteModel)
  QML_UNCREATABLE("made by the session")
};

struct JumpType {
  Q_GADGET
  QML_FOREIGN(uopscope::Jump)
  QML_NAMED_ELEMENT(Jump)
  QML_UNCREATABLE("made by the session")
};

struct PreferencesType {
  Q_GADGET
  QML_FOREIGN(uopscope::Preferences)
  QML_NAMED_ELEMENT(Preferences)
  QML_UNCREATABLE("made by the session")
};

struct GraphToolsType {
  Q_GADGET
  QML_FOREIGN(uopscope::GraphTools)
  QML_NAMED_ELEMENT(GraphTools)
  QML_UNCREATABLE("made by the session")
};

struct ConditionsType {
  Q_GADGET
  QML_FOREIGN(uopscope::Conditions)
  QML_NAMED_ELEMENT(Conditions)
  QML_UNCREATABLE("made by the session")
};

struct SqlModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::SqlModel)
  QML_NAMED_ELEMENT(SqlModel)
  QML_UNCREATABLE("made by the session")
};

struct ProfileModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::ProfileModel)
  QML_NAMED_ELEMENT(ProfileModel)
  QML_UNCREATABLE("made by the session")
};

struct WhyModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::WhyModel)
  QML_NAMED_ELEMENT(WhyModel)
  QML_UNCREATABLE("made by the session")
};

struct CheckerType {
  Q_GADGET
  QML_FOREIGN(uopscope::Checker)
  QML_NAMED_ELEMENT(Checker)
  QML_UNCREATABLE("made by the session")
};

struct ComparedLinesType {
  Q_GADGET
  QML_FOREIGN(uopscope::ComparedLines)
  QML_NAMED_ELEMENT(ComparedLines)
  QML_UNCREATABLE("made by the session")
};

struct CompareModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::CompareModel)
  QML_NAMED_ELEMENT(CompareModel)
  QML_UNCREATABLE("made by the session")
};

struct LiveControlType {
  Q_GADGET
  QML_FOREIGN(uopscope::LiveControl)
  QML_NAMED_ELEMENT(LiveControl)
  QML_UNCREATABLE("made by the session")
};

struct TimelineModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::TimelineModel)
  QML_NAMED_ELEMENT(TimelineModel)
  QML_UNCREATABLE("made by the session")
};

struct LlvmPassesType {
  Q_GADGET
  QML_FOREIGN(uopscope::LlvmPassesModel)
  QML_NAMED_ELEMENT(LlvmPassesModel)
  QML_UNCREATABLE("made by the session")
};

struct LinkedPanesType {
  Q_GADGET
  QML_FOREIGN(uopscope::LinkedPanes)
  QML_NAMED_ELEMENT(LinkedPanes)
  QML_UNCREATABLE("made by the session")
};

struct LinkedLinesType {
  Q_GADGET
  QML_FOREIGN(uopscope::LinkedLines)
  QML_NAMED_ELEMENT(LinkedLines)
  QML_UNCREATABLE("made by the session")
};

struct WarpModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::WarpModel)
  QML_NAMED_ELEMENT(WarpModel)
  QML_UNCREATABLE("made by the session")
};
struct RooflineModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::RooflineModel)
  QML_NAMED_ELEMENT(RooflineModel)
  QML_UNCREATABLE("made by the session")
};

struct ValuesModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::ValuesModel)
  QML_NAMED_ELEMENT(ValuesModel)
  QML_UNCREATABLE("made by the session")
};

struct RuleModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::RuleModel)
  QML_NAMED_ELEMENT(RuleModel)
  QML_UNCREATABLE("made by the session")
};

struct StoryTellerType {
  Q_GADGET
  QML_FOREIGN(uopscope::StoryTeller)
  QML_NAMED_ELEMENT(StoryTeller)
  QML_UNCREATABLE("made by the session")
};

struct BisectModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::BisectModel)
  QML_NAMED_ELEMENT(BisectModel)
  QML_UNCREATABLE("made by the session")
};

struct CandidatesModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::CandidatesModel)
  QML_NAMED_ELEMENT(CandidatesModel)
  QML_UNCREATABLE("made by the session")
};

struct ScriptEditorType {
  Q_GADGET
  QML_FOREIGN(uopscope::ScriptEditor)
  QML_NAMED_ELEMENT(ScriptEditor)
  QML_UNCREATABLE("made by the session")
};

struct HandModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::HandModel)
  QML_NAMED_ELEMENT(HandModel)
  QML_UNCREATABLE("made by the session")
};

struct WhatIfModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::WhatIfModel)
  QML_NAMED_ELEMENT(WhatIfModel)
  QML_UNCREATABLE("made by the session")
};

struct ExperimentModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::ExperimentModel)
  QML_NAMED_ELEMENT(ExperimentModel)
  QML_UNCREATABLE("made by the session")
};

struct ExperimentRowsType {
  Q_GADGET
  QML_FOREIGN(uopscope::ExperimentRows)
  QML_NAMED_ELEMENT(ExperimentRows)
  QML_UNCREATABLE("made by the session")
};

struct FilePageType {
  Q_GADGET
  QML_FOREIGN(uopscope::FilePage)
  QML_ANONYMOUS
};

struct ReplayModelType {
  Q_GADGET
  QML_FOREIGN(uopscope::ReplayModel)
  QML_NAMED_ELEMENT(ReplayModel)
  QML_UNCREATABLE("made by the session")
};

struct ReplayListType {
  Q_GADGET
  QML_FOREIGN(uopscope::ReplayList)
  QML_NAMED_ELEMENT(ReplayList)
  QML_UNCREATABLE("made by the session")
};

struct ReplayRowsType {
  Q_GADGET
  QML_FOREIGN(uopscope::ReplayRows)
  QML_NAMED_ELEMENT(ReplayRows)
  QML_UNCREATABLE("made by the session")
};

struct ReplayDetailType {
  Q_GADGET
  QML_FOREIGN(uopscope::ReplayDetail)
  QML_NAMED_ELEMENT(ReplayDetail)
  QML_UNCREATABLE("made by the session")
};

struct FileChooserType {
  Q_GADGET
  QML_FOREIGN(uopscope::FileChooser)
  QML_NAMED_ELEMENT(FileChooser)
  QML_UNCREATABLE("made by the session")
};

struct BookmarksType {
  Q_GADGET
  QML_FOREIGN(uopscope::Bookmarks)
  QML_NAMED_ELEMENT(Bookmarks)
  QML_UNCREATABLE("made by the session")
};

struct RecordingProcessType {
  Q_GADGET
  QML_FOREIGN(uopscope::RecordingProcess)
  QML_NAMED_ELEMENT(RecordingProcess)
  QML_UNCREATABLE("made by the session")
};

} // namespace uopscope
