// Splits the text into terms; each term has a field and a comparison, a wildcard or a regular expression.
#include "viz/models/graph/node_query.h"

#include <QStringList>

namespace uopscope {
namespace {

constexpr const char* kFields[] = {"op",    "dtype", "arg",  "shape", "line",   "id",   "users",
                                   "ports", "tag",   "mark", "pass",  "origin", "axis", "text"};

// Splits at blanks, but not inside quotes or between slashes.
QStringList split(const QString& text) {
  QStringList out;
  QString term;
  QChar inside;
  for (qsizetype i = 0; i < text.size(); ++i) {
    const QChar c = text[i];
    if (!inside.isNull()) {
      if (c == QLatin1Char('\\') && i + 1 < text.size())
        term += c, term += text[++i];
      else if (c == inside)
        inside = QChar(), term += c == QLatin1Char('/') ? QString(c) : QString();
      else
        term += c;
    } else if (c == QLatin1Char('"')) {
      inside = c;
    } else if (c == QLatin1Char('/') &&
               (term.isEmpty() || term.endsWith(QLatin1Char(':')) || term == QLatin1String("-"))) {
      inside = c;
      term += c;
    } else if (c.isSpace()) {
      if (!term.isEmpty()) out << term;
      term.clear();
    } else {
      term += c;
    }
  }
  if (!term.isEmpty()) out << term;
  return out;
}

QString everything(const PictureNode& n) {
  QString all = QString::fromStdString(n.op + ' ' + n.detail + ' ' + n.dtype + ' ' + n.tag + " #" +
                                       std::to_string(n.id));
  for (const FoldedSource& f : n.folded) all += QLatin1Char(' ') + QString::fromStdString(f.text);
  return all;
}

QString markName(Mark mark) {
  switch (mark) {
  case Mark::Added: return QStringLiteral("added");
  case Mark::Removed: return QStringLiteral("removed");
  case Mark::Changed: return QStringLiteral("rebuilt");
  case Mark::Same: break;
  }
  return QStringLiteral("same");
}

} // namespace

QStringList NodeQuery::fields() {
  QStringList out;
  for (const char* f : kFields) out << QLatin1String(f);
  return out;
}

NodeQuery NodeQuery::parse(const QString& text) {
  NodeQuery out;
  static const QRegularExpression form(QStringLiteral("^(-?)([a-z]+)(:|=|<|>)(.*)$"));
  for (QString word : split(text)) {
    Term t;
    const auto m = form.match(word);
    if (m.hasMatch()) {
      t.negated = !m.captured(1).isEmpty();
      t.field = m.captured(2);
      t.value = m.captured(4);
      if (!fields().contains(t.field)) {
        out.problem_ =
            QObject::tr("there is no field \"%1\": %2").arg(t.field, fields().join(QLatin1String(", ")));
        continue;
      }
      const QString sign = m.captured(3);
      bool number = false;
      t.number = t.value.toDouble(&number);
      if (sign == QLatin1String("<") || sign == QLatin1String(">")) {
        if (!number) out.problem_ = QObject::tr("%1 wants a number").arg(t.field + sign);
        t.compare = sign == QLatin1String("<") ? Compare::Less : Compare::More;
      } else if (number && (t.field == QLatin1String("line") || t.field == QLatin1String("id") ||
                            t.field == QLatin1String("users") || t.field == QLatin1String("ports"))) {
        t.compare = Compare::Equal;
      }
    } else {
      t.negated = word.size() > 1 && word.startsWith(QLatin1Char('-')) && !word[1].isDigit();
      t.value = t.negated ? word.mid(1) : word;
      t.field = QStringLiteral("text");
    }
    if (t.value.isEmpty()) continue; // still being typed
    const bool whole = t.field != QLatin1String("text");
    if (t.value.size() > 1 && t.value.startsWith(QLatin1Char('/')) && t.value.endsWith(QLatin1Char('/')))
      t.pattern =
          QRegularExpression(t.value.mid(1, t.value.size() - 2), QRegularExpression::CaseInsensitiveOption);
    else if (t.value.contains(QLatin1Char('*')) && whole)
      t.pattern =
          QRegularExpression(QRegularExpression::anchoredPattern(QRegularExpression::escape(t.value).replace(
                                 QLatin1String("\\*"), QLatin1String(".*"))),
                             QRegularExpression::CaseInsensitiveOption);
    if (!t.pattern.isValid()) {
      out.problem_ = QObject::tr("%1: %2").arg(t.value, t.pattern.errorString());
      continue;
    }
    out.wantsFacts_ |= t.field == QLatin1String("shape") || t.field == QLatin1String("line") ||
                       t.field == QLatin1String("pass") || t.field == QLatin1String("origin") ||
                       t.field == QLatin1String("axis");
    out.terms_.push_back(std::move(t));
  }
  return out;
}

bool NodeQuery::holds(const Term& t, const PictureNode& n, const NodeFact* fact) const {
  QString text;
  double number = 0;
  const auto is = [&](const char* name) { return t.field == QLatin1String(name); };
  if (is("users"))
    number = n.users;
  else if (is("ports"))
    number = static_cast<double>(n.folded.size());
  else if (is("id"))
    number = static_cast<double>(n.id);
  else if (is("line"))
    number = fact ? fact->line : 0;
  else if (is("op"))
    text = QString::fromStdString(n.op);
  else if (is("dtype"))
    text = QString::fromStdString(n.dtype);
  else if (is("arg"))
    text = QString::fromStdString(n.detail);
  else if (is("tag"))
    text = QString::fromStdString(n.tag);
  else if (is("mark"))
    text = markName(n.mark);
  else if (is("shape"))
    text = fact ? QString::fromStdString(fact->shape) : QString();
  else if (is("pass"))
    text = fact ? QString::fromStdString(fact->pass) : QString();
  else if (is("origin"))
    text = fact ? QString::fromStdString(fact->operation) : QString();
  else if (is("axis"))
    text = fact ? QString::fromStdString(fact->axis) : QString();
  else
    text = everything(n);
  switch (t.compare) {
  case Compare::Equal: return number == t.number;
  case Compare::Less: return number < t.number;
  case Compare::More: return number > t.number;
  case Compare::Text: break;
  }
  if (!t.pattern.pattern().isEmpty()) return t.pattern.match(text).hasMatch();
  // An operation must match as a whole (ADD does not find CADD); other fields match by any part.
  if (is("op") || is("mark") || is("axis")) return text.compare(t.value, Qt::CaseInsensitive) == 0;
  return text.contains(t.value, Qt::CaseInsensitive);
}

bool NodeQuery::matches(const PictureNode& n, const NodeFact* fact) const {
  for (const Term& t : terms_)
    if (holds(t, n, fact) == t.negated) return false;
  return true;
}

} // namespace uopscope
