// Packs texts of many compilations (graphs, source, IR, assembly) together. A line without its numbers is a form, stored
// once for all; a text is a list of forms, and of numbers as differences to those in the form's last line of the same
// record. Any bytes come back as they were.
//
//   std::string packed = packLines({"add 1, 2\nadd 2, 3\n", "add 7, 8\n"});
//   unpackLines(packed, 29) == "add 1, 2\nadd 2, 3\nadd 7, 8\n"
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace uopscope {

std::string packLines(std::span<const std::string_view> records);
/// All records in a row. Error(File) for bytes that are no packed texts, or texts of another size.
std::string unpackLines(std::string_view packed, size_t size);

} // namespace uopscope
