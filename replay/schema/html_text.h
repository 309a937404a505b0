// Makes text of an untrusted file safe for an HTML page.
//
//   htmlText("<b> \"x\" & \xff")  ->  "&lt;b&gt; &quot;x&quot; &amp; \ufffd"
#pragma once
#include <string>
#include <string_view>

namespace uopscope {

/// The text with & < > " and ' escaped, control characters except newline and tab as spaces, and bytes that
/// are no UTF-8 as U+FFFD: safe between tags and in attributes.
std::string htmlText(std::string_view text);

} // namespace uopscope
