// The Markdown that lessons and notes are written in, as HTML: headings, paragraphs, lists, code, quotes,
// tables, `code`, **strong** and *emphasis*. The text is a stranger's: everything is escaped, and no link
// leads out of the page
// ([text](address) becomes "text (address)"; an address that is a link into the trace becomes #address).
//
//   markdownHtml("# A\nsee [this](kernel=3&pass=2)")  ->  "<h1>A</h1>\n<p>see <a
//   href=\"#kernel=3&amp;pass=2\">this</a></p>\n"
#pragma once
#include <string>
#include <string_view>

namespace uopscope {

std::string markdownHtml(std::string_view text);

} // namespace uopscope
