// Rich text without colours fixed in it: "@added", "@keyword" ... stand for colours, which the theme fills in
// when the text is shown, so a change of theme needs no new text. Nothing is told by colour alone: what was
// removed is struck through, what was added is bold.
//
//   ExpressionDiff d = diffExpressions("r0+0", "r0");    // d.before: r0<s>+0</s>
//   highlightLine("int x = 3; // n", Language::C)        // <font color="@type">int</font>&nbsp;x ...
#pragma once
#include <QString>
#include <QStringList>

namespace uopscope {

struct ExpressionDiff {
  QString before, after; ///< rich text
  bool same = false;
};
/// As trees of brackets (replay/read/expression_diff.h).
ExpressionDiff diffExpressions(const QString& before, const QString& after);

enum class Language { Plain, C, Llvm, Assembly, Python, Uops, Cpp };
Language languageOf(const QString& kindOrFile);
/// One line as rich text. `inside` carries a comment or string that goes on over lines.
QString highlightLine(const QString& line, Language language, bool* inside = nullptr);
/// Text as it is, safe to show as rich text, spaces kept.
/// Tabs as spaces, to columns of eight.
QString withoutTabs(const QString& line);
QString escaped(const QString& text);

} // namespace uopscope
