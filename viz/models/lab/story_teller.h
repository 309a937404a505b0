// The story of the kernel or schedule in front: chapters, a sentence for each pass, made from what happened. The same
// text as `uopscope story`, with links: a click on a sentence goes to its pass.
//
//   StoryTeller story(session);  session.setTab("story");  story.chapters();   // [{title, about, code, sentences: [...]}]
//
// It is told on a lane of the jobs, when the tab is in front. Invariant: a story contains only facts of the trace.
#pragma once
#include "viz/models/session/session.h"

namespace uopscope {

class StoryTeller : public QObject {
  Q_OBJECT
  Q_PROPERTY(bool busy READ busy NOTIFY changed)
  /// "r_16_25_4", with the line of the script that it comes from.
  Q_PROPERTY(QString title READ title NOTIFY changed)
  /// [{title, about, code, sentences: [{text, details, pass}]}]; pass 0: about no single pass.
  Q_PROPERTY(QVariantList chapters READ chapters NOTIFY changed)
  Q_PROPERTY(QString problem READ problem NOTIFY changed)

public:
  explicit StoryTeller(Session& session, QObject* parent = nullptr);
  bool busy() const { return session_.jobs().busy(Channel::Story); }
  QString title() const { return title_; }
  QVariantList chapters() const { return chapters_; }
  QString problem() const { return problem_; }
  /// To the first step of a pass, in the graph.
  Q_INVOKABLE void goTo(qlonglong pass);
  /// Writes the story as .html or .txt; an empty string where it was written, the fault otherwise.
  Q_INVOKABLE QString exportTo(const QString& path) const;

Q_SIGNALS:
  void changed();

private:
  void ask();
  Session& session_;
  ScopeId told_ = 0; ///< whose story it is
  QString title_, problem_, text_, html_;
  QVariantList chapters_;
};

} // namespace uopscope
