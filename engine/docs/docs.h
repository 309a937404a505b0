// The members of the Python classes in words, for help() and for the window.
//
//   docOf("Tensor", "cumsum")       // "The sums of all elements up to each place along `axis`. ..."
//
// The texts are the .txt files of this folder, one for each class. A line at the left edge names members ("add, __add__"),
// the indented lines below are their text, '#' begins a comment. tests/engine/python/test_docstrings.py runs each example.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace uopscope {

/// The text of a member; empty where there is none.
const std::string& docOf(std::string_view className, std::string_view member);

/// Classes that have texts, and the members of one, in alphabetical order.
std::vector<std::string> documentedClasses();
std::vector<std::string> documentedMembers(std::string_view className);

} // namespace uopscope
