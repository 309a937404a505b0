// Rich text without fixed colours: "@added", "@keyword" ... stand for colours, which the theme fills in when
// the text is shown. A change of theme thus needs no new text. Colour alone never carries information:
// removed words are struck through, added words are bold.
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
/// Compares the expressions as trees of brackets (replay/read/expression_diff.h).
ExpressionDiff diffExpressions(const QString& before, const QString& after);

enum class Language { Plain, C, Llvm, Assembly, Python, Uops, Cpp };
Language languageOf(const QString& kindOrFile);
/// One line as rich text. `inside` carries the state of a comment or string that spans lines.
QString highlightLine(const QString& line, Language language, bool* inside = nullptr);
/// Replaces tabs by spaces, up to columns of eight.
QString withoutTabs(const QString& line);
QString escaped(const QString& text);

} // namespace uopscope
