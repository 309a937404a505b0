// Rich text: marks of differences, escaped markup, and highlighted lines.
#include "viz/models/work/rich_text.h"

#include <doctest/doctest.h>

using namespace uopscope;

TEST_CASE("rich text: a difference marks what went and what came, and nothing else") {
  const ExpressionDiff d = diffExpressions("(r0*4)+0", "(r0*4)");
  CHECK(d.before.contains("<s>"));
  CHECK(d.before.contains("+0"));
  CHECK_FALSE(d.after.contains("<b>"));
  CHECK(d.after == "(r0*4)");
  CHECK_FALSE(d.same);
}

TEST_CASE("rich text: equal texts have no difference, and markup in them stays text") {
  const ExpressionDiff d = diffExpressions("a<b", "a<b");
  CHECK(d.same);
  CHECK(d.before == "a&lt;b");
}

TEST_CASE("rich text: very different long texts are still compared from both ends") {
  QString a = "head ", b = "head ";
  for (int i = 0; i < 3000; ++i) a += QStringLiteral("x%1 ").arg(i), b += QStringLiteral("y%1 ").arg(i);
  const ExpressionDiff d = diffExpressions(a + "tail", b + "tail");
  CHECK(d.before.startsWith("head"));
  CHECK(d.before.endsWith("tail"));
  CHECK(d.after.contains("@added"));
}

TEST_CASE("rich text: code is coloured by kind of token") {
  CHECK(highlightLine("for (int i = 0;", Language::C).contains("<font color=\"@keyword\">for</font>"));
  CHECK(highlightLine("int x; // note", Language::C).contains("@comment"));
  CHECK(highlightLine("x = \"a # b\"  # c", Language::Python).count("@comment") == 1);
  bool inside = false;
  highlightLine("a /* b", Language::C, &inside);
  CHECK(inside);
  CHECK(highlightLine("still */ x", Language::C, &inside).contains("@comment"));
  CHECK_FALSE(inside);
  CHECK(highlightLine("<&>", Language::Plain) == "&lt;&amp;&gt;");
}
