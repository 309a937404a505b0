// Writes a corpus difference as text: for a terminal, a pull request, a browser, a program.
#pragma once
#include "replay/compare/difference.h"

namespace uopscope {

struct ReportOptions {
  bool colour = false;
  bool diffs = false; ///< with texts of changed kernels
  bool ignoreNames = false;
  size_t limit = 20; ///< kernels listed per cause (0: all); the omitted ones are counted
  std::string only;  ///< only kernels whose name, cause or place contains this
};

/// A summary of a few lines, then the causes with their kernels.
std::string reportText(const CorpusDiff& d, const Corpus& before, const Corpus& after,
                       const ReportOptions& o);
/// For a pull request: headline, table of causes, kernels in foldable parts.
std::string reportMarkdown(const CorpusDiff& d, const Corpus& before, const Corpus& after,
                           const ReportOptions& o);
/// One page that needs no network: causes, a list with filters, texts side by side with changed words marked.
std::string reportHtml(const CorpusDiff& d, const Corpus& before, const Corpus& after,
                       const ReportOptions& o);
std::string reportJson(const CorpusDiff& d, const Corpus& before, const Corpus& after,
                       const ReportOptions& o);

/// "312 kernels changed for 3 causes; 9,688 are the same" or "no kernel changed (10,000 compared)".
std::string headline(const CorpusDiff& d);
/// Source and IR of a change as a unified diff; empty where nothing differs.
std::string changeDiff(const Change& c, const Corpus& before, const Corpus& after, bool ignoreNames);
/// Launch sizes, FLOPs, bytes and compile time, before and after, one per line.
std::vector<std::string> changeFacts(const Change& c, const Corpus& before, const Corpus& after);

} // namespace uopscope
