#include "viz/models/work/rich_text.h"

#include <QHash>
#include <QSet>
#include <algorithm>
#include <vector>

namespace uopscope {
namespace {

// Above this many pairs of words the table of the comparison would be slow to fill and useless to read.
constexpr qsizetype kMaxTable = 1'500'000;

QStringList words(const QString& text) {
  QStringList out;
  for (qsizetype i = 0; i < text.size();) {
    qsizetype end = i + 1;
    auto wordly = [](QChar c) {
      return c.isLetterOrNumber() || c == QLatin1Char('_') || c == QLatin1Char('.');
    };
    if (wordly(text[i]))
      while (end < text.size() && wordly(text[end])) ++end;
    out << text.mid(i, end - i);
    i = end;
  }
  return out;
}

QString coloured(const QString& text, const char* colour) {
  return QStringLiteral("<font color=\"@%1\">%2</font>").arg(QLatin1String(colour), escaped(text));
}

const QSet<QString>& keywords(Language l) {
  static const QSet<QString> c = {"for",     "if",           "else",          "return",   "while",
                                  "const",   "static",       "inline",        "restrict", "struct",
                                  "typedef", "define",       "include",       "extern",   "true",
                                  "false",   "__restrict__", "__attribute__", "template", "class",
                                  "using",   "namespace",    "auto",          "constexpr"};
  static const QSet<QString> llvm = {"define",
                                     "declare",
                                     "ret",
                                     "br",
                                     "label",
                                     "phi",
                                     "load",
                                     "store",
                                     "getelementptr",
                                     "inbounds",
                                     "add",
                                     "sub",
                                     "mul",
                                     "fadd",
                                     "fsub",
                                     "fmul",
                                     "fdiv",
                                     "icmp",
                                     "fcmp",
                                     "select",
                                     "call",
                                     "nuw",
                                     "nsw",
                                     "align",
                                     "sext",
                                     "zext",
                                     "trunc",
                                     "bitcast",
                                     "shl",
                                     "lshr",
                                     "ashr",
                                     "and",
                                     "or",
                                     "xor",
                                     "sdiv",
                                     "srem",
                                     "attributes",
                                     "noalias",
                                     "insertelement",
                                     "extractelement",
                                     "shufflevector",
                                     "to",
                                     "nsz",
                                     "contract"};
  static const QSet<QString> python = {"def",    "for",    "in",    "if",      "elif",  "else",   "return",
                                       "import", "from",   "as",    "class",   "while", "with",   "lambda",
                                       "not",    "and",    "or",    "is",      "None",  "True",   "False",
                                       "try",    "except", "raise", "pass",    "yield", "assert", "print",
                                       "global", "del",    "break", "continue"};
  static const QSet<QString> none;
  switch (l) {
  case Language::C:
  case Language::Cpp: return c;
  case Language::Llvm: return llvm;
  case Language::Python: return python;
  default: return none;
  }
}

const QSet<QString>& types() {
  static const QSet<QString> t = {
      "void",   "int",    "float",   "double", "char",   "short",   "long",    "unsigned", "signed",
      "bool",   "half",   "i1",      "i8",     "i16",    "i32",     "i64",     "ptr",      "float4",
      "float2", "float8", "float16", "int4",   "size_t", "int32_t", "int64_t", "uint32_t", "uint64_t",
      "index",  "Tensor", "UOp",     "uchar",  "ushort", "uint"};
  return t;
}

} // namespace

QString withoutTabs(const QString& line) {
  if (!line.contains(QLatin1Char('\t'))) return line;
  QString out;
  for (const QChar c : line)
    if (c == QLatin1Char('\t'))
      out += QString(8 - out.size() % 8, QLatin1Char(' '));
    else
      out += c;
  return out;
}

QString escaped(const QString& text) {
  QString out = text.toHtmlEscaped();
  out.replace(QLatin1Char('\t'), QLatin1String("    "));
  out.replace(QLatin1String(" "), QLatin1String("&nbsp;"));
  return out;
}

ExpressionDiff diffExpressions(const QString& before, const QString& after) {
  ExpressionDiff out;
  out.same = before == after;
  const QStringList a = words(before), b = words(after);
  qsizetype head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  const qsizetype n = a.size() - head - tail, m = b.size() - head - tail;
  std::vector<bool> keptA(static_cast<size_t>(n), false), keptB(static_cast<size_t>(m), false);
  if (n * m <= kMaxTable && n + m < UINT16_MAX) {
    // Words as numbers: comparing texts would be most of the work.
    QHash<QString, uint16_t> numbers;
    auto numbered = [&](const QStringList& words, qsizetype count) {
      std::vector<uint16_t> out;
      for (qsizetype i = 0; i < count; ++i)
        out.push_back(numbers
                          .emplace(words[head + i],
                                   numbers.value(words[head + i], static_cast<uint16_t>(numbers.size())))
                          .value());
      return out;
    };
    const auto one = numbered(a, n), other = numbered(b, m);
    auto same = [&](qsizetype i, qsizetype j) {
      return one[static_cast<size_t>(i)] == other[static_cast<size_t>(j)];
    };
    std::vector<uint16_t> table(static_cast<size_t>((n + 1) * (m + 1)), 0);
    auto cell = [&](qsizetype i, qsizetype j) -> uint16_t& {
      return table[static_cast<size_t>(i * (m + 1) + j)];
    };
    for (qsizetype i = n; i-- > 0;)
      for (qsizetype j = m; j-- > 0;)
        cell(i, j) = same(i, j) ? static_cast<uint16_t>(cell(i + 1, j + 1) + 1)
                                : std::max(cell(i + 1, j), cell(i, j + 1));
    for (qsizetype i = 0, j = 0; i < n && j < m;) {
      if (same(i, j))
        keptA[static_cast<size_t>(i++)] = keptB[static_cast<size_t>(j++)] = true;
      else if (cell(i + 1, j) >= cell(i, j + 1))
        ++i;
      else
        ++j;
    }
  }
  auto spell = [&](const QStringList& w, const std::vector<bool>& kept, const char* colour, const char* tag) {
    QString s;
    for (qsizetype i = 0; i < w.size();) {
      auto same = [&](qsizetype k) {
        return k < head || k >= head + static_cast<qsizetype>(kept.size()) ||
               kept[static_cast<size_t>(k - head)];
      };
      qsizetype end = i;
      QString run;
      while (end < w.size() && same(end) == same(i)) run += w[end++];
      if (same(i))
        s += run.toHtmlEscaped();
      else
        s += QStringLiteral("<%1><font color=\"@%2\">%3</font></%1>")
                 .arg(QLatin1String(tag), QLatin1String(colour), run.toHtmlEscaped());
      i = end;
    }
    return s;
  };
  out.before = spell(a, keptA, "removed", "s");
  out.after = spell(b, keptB, "added", "b");
  return out;
}

Language languageOf(const QString& what) {
  if (what.endsWith(QLatin1String(".py"))) return Language::Python;
  if (what.endsWith(QLatin1String(".cpp")) || what.endsWith(QLatin1String(".h"))) return Language::Cpp;
  if (what == QLatin1String("source")) return Language::C;
  if (what == QLatin1String("ir")) return Language::Llvm;
  if (what == QLatin1String("asm")) return Language::Assembly;
  if (what == QLatin1String("uops")) return Language::Uops;
  return Language::Plain;
}

QString highlightLine(const QString& line, Language language, bool* inside) {
  if (language == Language::Plain) return escaped(line);
  QString out;
  const QChar comment =
      language == Language::Python || language == Language::Assembly ? QLatin1Char('#') : QLatin1Char(';');
  const bool slashes = language == Language::C || language == Language::Cpp;
  const bool atStart = language == Language::Assembly;
  qsizetype i = 0;
  auto until = [&](const QString& end, const char* colour) {
    const qsizetype at = line.indexOf(end, i);
    const qsizetype stop = at < 0 ? line.size() : at + end.size();
    out += coloured(line.mid(i, stop - i), colour);
    i = stop;
    return at >= 0;
  };
  const QString longEnd = language == Language::Python ? QStringLiteral("\"\"\"") : QStringLiteral("*/");
  const char* longColour = language == Language::Python ? "string" : "comment";
  if (inside && *inside) *inside = !until(longEnd, longColour);
  bool first = true;
  while (i < line.size()) {
    const QChar c = line[i];
    if (language == Language::Python && line.mid(i, 3) == longEnd) {
      out += coloured(longEnd, "string");
      i += 3;
      const bool closed = until(longEnd, "string");
      if (inside) *inside = !closed;
      continue;
    }
    if (slashes && line.mid(i, 2) == QLatin1String("/*")) {
      const bool closed = until(longEnd, "comment");
      if (inside) *inside = !closed;
      continue;
    }
    if ((slashes && line.mid(i, 2) == QLatin1String("//")) ||
        (!slashes && language != Language::Uops && c == comment)) {
      out += coloured(line.mid(i), "comment");
      break;
    }
    if (c == QLatin1Char('"') || (c == QLatin1Char('\'') && language != Language::Llvm)) {
      qsizetype end = i + 1;
      while (end < line.size() && line[end] != c) end += line[end] == QLatin1Char('\\') ? 2 : 1;
      end = std::min(line.size(), end + 1);
      out += coloured(line.mid(i, end - i), "string");
      i = end;
      continue;
    }
    if (c.isDigit()) {
      qsizetype end = i;
      while (end < line.size() && (line[end].isLetterOrNumber() || line[end] == QLatin1Char('.'))) ++end;
      out += coloured(line.mid(i, end - i), "number");
      i = end;
      first = false;
      continue;
    }
    if (c.isLetter() || c == QLatin1Char('_')) {
      qsizetype end = i;
      while (end < line.size() && (line[end].isLetterOrNumber() || line[end] == QLatin1Char('_'))) ++end;
      const QString word = line.mid(i, end - i);
      const bool upper = word.size() > 1 && word == word.toUpper() && !word[0].isDigit();
      if (keywords(language).contains(word))
        out += coloured(word, "keyword");
      else if (types().contains(word))
        out += coloured(word, "type");
      else if (language == Language::Uops && upper)
        out += coloured(word, "keyword");
      else if (atStart && first)
        out += coloured(word, "keyword");
      else if (end < line.size() && line[end] == QLatin1Char('('))
        out += coloured(word, "function");
      else
        out += escaped(word);
      i = end;
      first = false;
      continue;
    }
    out += escaped(QString(c));
    if (!c.isSpace()) first = first && c == QLatin1Char(':');
    ++i;
  }
  return out;
}

} // namespace uopscope
