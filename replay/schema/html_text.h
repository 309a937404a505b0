// Text of a file that a stranger made, as a page may hold it.
//
//   htmlText("<b> \"x\" & \xff")  ->  "&lt;b&gt; &quot;x&quot; &amp; \ufffd"
#pragma once
#include <string>
#include <string_view>

namespace uopscope {

/// The text with & < > " and ' spelled out, control characters but newline and tab as spaces, and bytes that
/// are no UTF-8 as U+FFFD: harmless between tags and in attributes.
std::string htmlText(std::string_view text);

} // namespace uopscope
