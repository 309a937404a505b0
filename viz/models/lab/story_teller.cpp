#include "viz/models/lab/story_teller.h"

#include "replay/teach/chapters.h"
#include "viz/models/work/table_text.h"
#include "viz/models/work/text.h"

namespace uopscope {
namespace {

QVariantList listOf(const ToldScope& told) {
  QVariantList out;
  for (const Chapter& c : told.chapters) {
    QVariantList sentences;
    for (const Chapter::Sentence& s : c.sentences) {
      QStringList details;
      for (const std::string& d : s.details) details << text(d);
      sentences << QVariantMap{
          {"text", text(s.text)}, {"details", details}, {"pass", static_cast<qlonglong>(s.pass)}};
    }
    out << QVariantMap{
        {"title", text(c.title)}, {"about", text(c.about)}, {"code", text(c.code)}, {"sentences", sentences}};
  }
  return out;
}

} // namespace

StoryTeller::StoryTeller(Session& session, QObject* parent) : QObject(parent), session_(session) {
  connect(&session_, &Session::opened, this, [this] {
    told_ = 0;
    chapters_.clear();
    Q_EMIT changed();
  });
  connect(&session_, &Session::grown, this, [this] { told_ = 0; });
  connect(&session_, &Session::placeChanged, this, [this] { ask(); });
}

void StoryTeller::ask() {
  if (!session_.trace() || session_.tab() != QLatin1String("story") || session_.scope() == told_) return;
  told_ = session_.scope();
  chapters_.clear(), problem_.clear(), title_.clear();
  Q_EMIT changed();
  session_.jobs().ask(
      Channel::Story,
      [this, scope = told_](Jobs::Job& job) -> Jobs::Answer {
        const ToldScope told = tellScope(job.trace(), scope);
        const QString title = text(told.name + (told.script.empty() ? "" : " (" + told.script + ")"));
        const QString plain = text(storyText(told, {.colour = false, .codeLines = 0})),
                      page = text(storyHtml({told}, told.name));
        return [this, list = listOf(told), title, plain, page] {
          chapters_ = list;
          title_ = title;
          text_ = plain, html_ = page;
          if (list.isEmpty()) problem_ = tr("Nothing was recorded of it, so there is no story.");
          Q_EMIT changed();
        };
      },
      [this](const QString& what) {
        problem_ = what;
        Q_EMIT changed();
      });
}

void StoryTeller::goTo(qlonglong pass) {
  if (pass <= 0) return;
  session_.setTab(QStringLiteral("graph"));
  session_.goTo(pass, 1);
}

QString StoryTeller::exportTo(const QString& path) const {
  if (!path.endsWith(QLatin1String(".html")) && !path.endsWith(QLatin1String(".txt")))
    return tr("%1: a story is written as .html or .txt").arg(path);
  return writeText(path, path.endsWith(QLatin1String(".html")) ? html_ : text_);
}

} // namespace uopscope
