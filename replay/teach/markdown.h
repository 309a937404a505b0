// Converts the Markdown of lessons and notes to HTML: headings, paragraphs, lists, code, quotes, tables,
// `code`, **strong** and *emphasis*. The text is untrusted, so everything is escaped and no link leads out of
// the page: [text](address) becomes "text (address)". Only a link into the trace stays a link, with the
// address #address. A ```question block of a lesson becomes its question, with hint and answer folded.
//
//   markdownHtml("# A\nsee [this](kernel=3&pass=2)")
//     ->  "<h1>A</h1>\n<p>see <a href=\"#kernel=3&amp;pass=2\">this</a></p>\n"
#pragma once
#include <string>
#include <string_view>

namespace uopscope {

std::string markdownHtml(std::string_view text);
/// Without the blanks and tabs at both ends.
std::string trimmed(std::string_view s);

} // namespace uopscope
