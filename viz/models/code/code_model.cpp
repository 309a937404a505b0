// Splits the text into lines at once, and highlights a line when the view asks for it.
#include "viz/models/code/code_model.h"

#include "viz/models/work/table_text.h"

#include <algorithm>

namespace uopscope {
namespace {

// The screen cuts lines longer than this; a copy contains them whole.
constexpr qsizetype kMaxShown = 600;
constexpr size_t kKeptLines = 4000;

} // namespace

void CodeModel::setText(const QString& title, const QString& text, Language language,
                        std::shared_ptr<const LineRegisters> registers) {
  beginResetModel();
  registers_ = std::move(registers);
  title_ = title;
  missing_.clear();
  language_ = language;
  lines_ = text.split(QLatin1Char('\n'));
  if (!lines_.isEmpty() && lines_.last().isEmpty()) lines_.removeLast();
  if (language == Language::Assembly)
    for (QString& line : lines_) line = withoutTabs(line);
  html_.clear();
  notes_.clear();
  current_ = 0;
  widest_ = 0;
  fault_ = 0;
  inside_.assign(static_cast<size_t>(lines_.size()), false);
  const QString open = language == Language::Python ? QStringLiteral("\"\"\"") : QStringLiteral("/*");
  bool inside = false;
  for (qsizetype i = 0; i < lines_.size(); ++i) {
    inside_[static_cast<size_t>(i)] = inside;
    widest_ = std::max(widest_, static_cast<int>(std::min(kMaxShown, lines_[i].size())));
    if (inside || lines_[i].contains(open)) highlightLine(lines_[i], language, &inside);
  }
  endResetModel();
  Q_EMIT changed();
}

void CodeModel::setMissing(const QString& why) {
  setText({}, {}, Language::Plain);
  missing_ = why;
  Q_EMIT changed();
}

void CodeModel::setNotes(std::map<int, Note> notes) {
  notes_ = std::move(notes);
  if (!lines_.isEmpty()) Q_EMIT dataChanged(index(0), index(lineCount() - 1), {NoteRole, NoteScopeRole});
}

void CodeModel::setFault(int line, const QString& text) {
  fault_ = line >= 1 && line <= lineCount() ? line : 0;
  faultText_ = fault_ ? text : QString();
  Q_EMIT changed();
}

void CodeModel::setCurrentLine(int line) {
  if (line == current_) return;
  current_ = line;
  Q_EMIT changed();
}

QString CodeModel::plainText(int first, int last) const {
  if (last < 0 || last > lineCount()) last = lineCount();
  return lines_.mid(std::max(0, first - 1), std::max(0, last - std::max(0, first - 1)))
             .join(QLatin1Char('\n')) +
         QLatin1Char('\n');
}

QString CodeModel::exportTo(const QString& path) const {
  return lines_.isEmpty() ? tr("There is no text to export.") : writeText(path, plainText());
}

int CodeModel::find(const QString& text, int line, int direction) const {
  if (text.isEmpty()) return 0;
  const int n = lineCount();
  for (int i = 1; i <= n; ++i) {
    const int at = ((line - 1 + direction * i) % n + n) % n;
    if (lines_[at].contains(text, Qt::CaseInsensitive)) return at + 1;
  }
  return 0;
}

int CodeModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : lineCount();
}

QVariant CodeModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const int row = index.row();
  const auto note = notes_.find(row + 1);
  switch (role) {
  case Qt::DisplayRole: return lines_[row];
  case NumberRole: return row + 1;
  case HtmlRole: {
    const auto it = html_.find(row);
    if (it != html_.end()) return it->second;
    bool inside = inside_[static_cast<size_t>(row)];
    QString html = highlightLine(lines_[row].left(kMaxShown), language_, &inside);
    if (lines_[row].size() > kMaxShown)
      html += QStringLiteral("<font color=\"@comment\">&nbsp;... %1 more characters</font>")
                  .arg(lines_[row].size() - kMaxShown);
    if (html_.size() > kKeptLines) html_.clear();
    return html_[row] = html;
  }
  case NoteRole: return note == notes_.end() ? QString() : note->second.text;
  case NoteScopeRole: return note == notes_.end() ? qlonglong{0} : note->second.scope;
  case LinkedRole: return row + 1 == current_;
  case AliveRole: return registers_ ? registers_->alive(row + 1) : -1;
  default: return {};
  }
}

QHash<int, QByteArray> CodeModel::roleNames() const {
  return {{NumberRole, "number"},       {HtmlRole, "html"},     {NoteRole, "note"},
          {NoteScopeRole, "noteScope"}, {LinkedRole, "linked"}, {AliveRole, "alive"}};
}

} // namespace uopscope
