// A form is kept as its texts with marks where its numbers stood. A record is a number of lines; its last line has no end.
#include "replay/record/line_codec.h"

#include "engine/base/error.h"
#include "replay/record/columns.h"
#include "replay/record/line_numbers.h"
#include "replay/schema/leb128.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <vector>

namespace uopscope {

namespace {
enum Column : size_t { kRecords, kForms, kFormSizes, kFormTexts, kNumbers, kColumns };

/// Marks inside a form: kMark and kNumberMark stand for a number, kMark twice for the byte kMark.
constexpr char kMark = '\0', kNumberMark = '\1';

/// The numbers in the last line of each form, within a record.
class LastNumbers {
public:
  void beginRecord() { ++record_; }
  std::vector<int64_t>& of(size_t form, size_t count) {
    if (form >= last_.size()) last_.resize(form + 1);
    Line& line = last_[form];
    if (line.record != record_) line.numbers.assign(count, 0);
    line.record = record_;
    return line.numbers;
  }

private:
  struct Line {
    uint64_t record = 0;
    std::vector<int64_t> numbers;
  };
  std::vector<Line> last_;
  uint64_t record_ = 0;
};

void appendText(std::string& form, std::string_view text) {
  for (char c : text) form.append(c == kMark ? 2 : 1, c);
}
} // namespace

std::string packLines(std::span<const std::string_view> records) {
  ColumnWriter out(kColumns);
  std::unordered_map<std::string, size_t> forms;
  LastNumbers last;
  std::string form;
  std::vector<int64_t> numbers;
  out.put(kRecords, records.size());
  for (std::string_view record : records) {
    last.beginRecord();
    uint64_t lines = 1;
    for (char c : record) lines += c == '\n';
    out.put(kRecords, lines);
    for (size_t at = 0; at <= record.size();) {
      const size_t end = std::min(record.find('\n', at), record.size());
      form.clear();
      numbers.clear();
      splitLine(
          record.substr(at, end - at),
          [&](std::string_view text) {
            appendText(form, text);
            form += {kMark, kNumberMark};
          },
          [&](int64_t number) { numbers.push_back(number); });
      form.resize(form.size() - 2);
      auto [it, fresh] = forms.try_emplace(form, forms.size() + 1);
      out.put(kForms, fresh ? 0 : it->second);
      if (fresh) {
        out.put(kFormSizes, form.size());
        out.text(kFormTexts, form);
      }
      std::vector<int64_t>& before = last.of(it->second, numbers.size());
      for (size_t k = 0; k < numbers.size(); ++k) out.put(kNumbers, unsignedOf(numbers[k] - before[k]));
      before = numbers;
      at = end + 1;
    }
  }
  return out.packed();
}

namespace {
/// A form taken apart: texts before, between and after its numbers.
std::vector<std::string> partsOf(std::string_view form) {
  std::vector<std::string> parts(1);
  for (size_t at = 0; at < form.size(); ++at) {
    if (form[at] != kMark) {
      parts.back() += form[at];
      continue;
    }
    if (++at == form.size()) damagedBlock();
    if (form[at] == kMark)
      parts.back() += kMark;
    else
      parts.emplace_back();
  }
  return parts;
}
} // namespace

std::string unpackLines(std::string_view packed, size_t size) {
  // A number of one digit may be a difference of four bytes, and an empty line a form of three.
  ColumnReader in(packed, 8 * size + (1 << 16));
  std::vector<std::vector<std::string>> forms(1);
  LastNumbers last;
  std::string out(size, '\0');
  char *at = out.data(), *const end = at + size;
  auto append = [&](std::string_view text) {
    if (text.size() > static_cast<size_t>(end - at)) damagedBlock();
    at = std::copy(text.begin(), text.end(), at);
  };
  for (uint64_t records = in.get(kRecords); records > 0; --records) {
    last.beginRecord();
    const uint64_t lines = in.get(kRecords);
    for (uint64_t line = 0; line < lines; ++line) {
      if (line > 0) append("\n");
      uint64_t form = in.get(kForms);
      if (form == 0) {
        form = forms.size();
        forms.push_back(partsOf(in.text(kFormTexts, in.get(kFormSizes))));
      }
      if (form >= forms.size()) damagedBlock();
      const std::vector<std::string>& parts = forms[form];
      std::vector<int64_t>& numbers = last.of(form, parts.size() - 1);
      append(parts[0]);
      for (size_t k = 0; k + 1 < parts.size(); ++k) {
        // A sum beyond 64 bits wraps: only a damaged block has one.
        numbers[k] = static_cast<int64_t>(static_cast<uint64_t>(numbers[k]) +
                                          static_cast<uint64_t>(signedOf(in.get(kNumbers))));
        const auto [after, failed] = std::to_chars(at, end, numbers[k]);
        if (failed != std::errc()) damagedBlock();
        at = after;
        append(parts[k + 1]);
      }
    }
  }
  if (at != end) damagedBlock();
  return out;
}

} // namespace uopscope
