// A scanner per line finds words, numbers, strings and comments; tables list the keywords of each language.
#include "viz/models/work/rich_text.h"

#include "replay/read/expression_diff.h"

#include <QSet>

namespace uopscope {
namespace {

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
  const std::string a = before.toStdString(), b = after.toStdString();
  const DiffWords words = expressionDiff(a, b);
  auto spell = [](const std::vector<DiffWord>& words, const char* colour, const char* tag) {
    QString s;
    for (const DiffWord& w : words) {
      const QString text =
          QString::fromUtf8(w.text.data(), static_cast<qsizetype>(w.text.size())).toHtmlEscaped();
      s += w.changed ? QStringLiteral("<%1><font color=\"@%2\">%3</font></%1>")
                           .arg(QLatin1String(tag), QLatin1String(colour), text)
                     : text;
    }
    return s;
  };
  return {spell(words.before, "removed", "s"), spell(words.after, "added", "b"), before == after};
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
