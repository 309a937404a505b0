// Opens both states on a background thread and compares them there; the answer sets the picture or the lines.
#include "viz/models/compare/compare_model.h"

#include "replay/read/link.h"
#include "replay/read/readable.h"
#include "viz/models/work/rich_text.h"

#include <QFileInfo>
#include <algorithm>

namespace uopscope {
namespace {

constexpr size_t kTreeLines = 20'000; // of a printed graph

/// One side, looked up: its trace, place and texts.
struct Side {
  std::unique_ptr<Trace> own;
  Trace* trace = nullptr;
  ResolvedLink at;
  std::unique_ptr<Cursor> cursor;

  Side(Trace& here, const QString& path, const QString& link) {
    if (QFileInfo(path) == QFileInfo(QString::fromStdString(here.path()))) {
      trace = &here;
    } else {
      own = std::make_unique<Trace>(path.toStdString());
      trace = own.get();
    }
    at = resolve(*trace, Link::parse(link.toStdString()));
    if (at.pass == 0)
      throw Error(ErrorKind::Key, "\"" + link.toStdString() + "\" names no pass of " + trace->path());
    cursor = std::make_unique<Cursor>(*trace, at.pass);
    at.step = std::clamp<int64_t>(at.step, 0, cursor->steps());
  }
  QString text(const std::string& what) {
    if (what == "tree")
      return QString::fromStdString(printPlainTree(cursor->reader(), cursor->rootAt(at.step), kTreeLines));
    const auto t = trace->artifact(at.scope, what);
    if (!t) throw Error(ErrorKind::Key, "no " + what + " was recorded of " + trace->scope(at.scope).name);
    return QString::fromStdString(*t);
  }
};

} // namespace

CompareModel::CompareModel(Session& session, QObject* parent) : ComparedLines(parent), session_(session) {
  connect(&session_, &Session::opened, this, [this] {
    right_ = {};
    graph_.setPicture(nullptr);
    summary_.clear();
    setRows({});
  });
}

CompareModel::State CompareModel::present() const {
  QString link = session_.link();
  // The selected node does not take part in the comparison.
  if (const auto at = link.indexOf(QLatin1String("&node=")); at >= 0) {
    const auto end = link.indexOf(QLatin1Char('&'), at + 1);
    link.remove(at, (end < 0 ? link.size() : end) - at);
  }
  return {session_.path(), link,
          tr("%1 › %2, step %3").arg(session_.scopeName(), session_.passName()).arg(session_.step())};
}

void CompareModel::remember() {
  if (!session_.trace() || session_.pass() == 0) return;
  left_ = present();
  session_.showNotice(tr("Remembered: %1. Go elsewhere and press Shift X to compare.").arg(left_.title));
  Q_EMIT changed();
}

void CompareModel::compareNow() {
  if (!session_.trace() || session_.pass() == 0) return;
  if (!remembered()) return comparePass();
  right_ = present();
  ask();
}

void CompareModel::comparePass() {
  if (!session_.trace() || session_.pass() == 0) return;
  right_ = left_ = present();
  const QString base = QStringLiteral("kernel=%1&pass=%2").arg(session_.scope());
  int number = 0;
  for (const PassInfo& p : session_.trace()->passes(session_.scope())) {
    ++number;
    if (p.id != session_.pass()) continue;
    left_.link = base.arg(number) + QStringLiteral("&step=0");
    right_.link = base.arg(number) + QStringLiteral("&step=%1").arg(session_.stepCount());
  }
  left_.title = tr("%1 › %2 as it began").arg(session_.scopeName(), session_.passName());
  right_.title = tr("as it ended");
  ask();
}

void CompareModel::swap() {
  std::swap(left_, right_);
  ask();
}

void CompareModel::openLeft(const QString& path) {
  left_ = present();
  left_.trace = path.startsWith(QLatin1String("file://")) ? path.mid(7) : path;
  left_.title = tr("%1: %2").arg(QFileInfo(left_.trace).fileName(), left_.title);
  right_ = present();
  ask();
}

void CompareModel::setWhat(const QString& what) {
  if (what == what_) return;
  what_ = what;
  Q_EMIT changed();
  ask();
}

void CompareModel::ask() {
  if (!session_.trace() || left_.link.isEmpty() || right_.link.isEmpty()) return;
  problem_.clear();
  session_.jobs().ask(
      Channel::Compare,
      [this, l = left_, r = right_, what = what_.toStdString(),
       turned = session_.leftToRight()](Jobs::Job& job) -> Jobs::Answer {
        Side a(job.trace(), l.trace, l.link), b(job.trace(), r.trace, r.link);
        PicturePtr picture;
        auto rows = std::make_shared<std::vector<TextRow>>();
        QString summary;
        if (what == "graph") {
          picture = compareGraphs({a.cursor.get(), a.at.step}, {b.cursor.get(), b.at.step}, turned);
          summary = tr("%1 added, %2 removed, %3 changed, %4 the same")
                        .arg(picture->added)
                        .arg(picture->removed)
                        .arg(picture->changed)
                        .arg(picture->nodes.size() - picture->added - picture->removed - picture->changed);
        } else {
          *rows = compareTexts(a.text(what), b.text(what), languageOf(QString::fromStdString(what)));
          int counts[3] = {0, 0, 0};
          for (const TextRow& row : *rows)
            counts[0] += row.mark == '+', counts[1] += row.mark == '-', counts[2] += row.mark == '~';
          summary = counts[0] + counts[1] + counts[2] == 0 ? tr("The texts are the same.")
                                                           : tr("lines: %1 added, %2 removed, %3 changed")
                                                                 .arg(counts[0])
                                                                 .arg(counts[1])
                                                                 .arg(counts[2]);
        }
        return [this, picture, rows, summary] {
          if (picture) graph_.setPicture(picture);
          summary_ = summary;
          setRows(std::move(*rows));
        };
      },
      [this](const QString& what) {
        problem_ = what;
        graph_.setPicture(nullptr);
        setRows({});
      });
}

} // namespace uopscope
