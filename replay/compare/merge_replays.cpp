// A result that equals the stored one is confirmed, as the replay itself does, so that the whole shares its texts.
#include "replay/compare/merge_replays.h"

#include "engine/base/error.h"
#include "replay/record/corpus.h"

#include <fmt/format.h>

#include <map>

namespace uopscope {

namespace {

/// Facts about a replay that all its parts share.
constexpr const char* kShared[] = {"program_version", "build", "commit", "title", "measured"};

using Key = std::pair<ScopeKind, uint64_t>;
Key keyOf(const CorpusEntry& e) {
  return {e.kind, e.inputHash};
}

class Merge {
public:
  explicit Merge(const std::string& corpus) : base_(Corpus::open(corpus)), entries_(base_.entries()) {
    for (const CorpusEntry& e : entries_) left_.emplace(keyOf(e), &e);
  }

  void add(const std::string& path) {
    const Corpus& part = parts_.emplace_back(Corpus::open(path));
    if (part.meta("status") != "complete")
      throw Error(ErrorKind::Value, fmt::format("{}: this part is not finished; replay it again", path));
    for (const char* key : kShared)
      if (parts_.front().meta(key) != part.meta(key))
        throw Error(ErrorKind::Value,
                    fmt::format("{} and {} are parts of different replays: {} is \"{}\" and \"{}\"",
                                parts_.front().path(), path, key, parts_.front().meta(key), part.meta(key)));
    for (const CorpusEntry& e : part.entries()) {
      auto asked = left_.extract(keyOf(e));
      if (asked.empty())
        throw Error(ErrorKind::Value,
                    fmt::format("{}: {} is in a different part, or not in {}", path, e.name, base_.path()));
      found_.emplace(asked.mapped()->id, Result{parts_.size() - 1, e});
    }
    for (const auto& [place, n] : part.counts()) counts_[place] += n;
  }

  size_t write(const std::string& result) {
    if (!left_.empty())
      throw Error(ErrorKind::Value,
                  fmt::format("{} of {} inputs are in no part ({} is the first); give all parts",
                              left_.size(), entries_.size(), left_.begin()->second->name));
    bool assembly = false;
    for (const auto& [id, r] : found_) assembly |= r.entry.assembly.size > 0;
    Corpus out = Corpus::forReplayOf(base_.path(), result, assembly);
    for (const CorpusEntry& e : entries_) {
      const Result& r = found_.at(e.id);
      if (e.outputHash == r.entry.outputHash && e.storyHash == r.entry.storyHash &&
          e.status == r.entry.status)
        out.confirm(e, r.entry.compileNs);
      else
        out.replace(e, parts_[r.part].load(r.entry, assembly));
    }
    out.addCounts(counts_);
    out.finish();
    for (const char* key : kShared)
      if (const std::string value = parts_.front().meta(key); !value.empty()) out.setMeta(key, value);
    return entries_.size();
  }

private:
  struct Result {
    size_t part;
    CorpusEntry entry;
  };
  Corpus base_;
  std::vector<CorpusEntry> entries_;
  std::map<Key, const CorpusEntry*> left_; ///< inputs that no part has brought so far
  std::vector<Corpus> parts_;
  std::map<int64_t, Result> found_; ///< by the id of the input
  RuleCounts counts_;
};

} // namespace

size_t mergeReplays(const std::string& corpus, const std::vector<std::string>& parts,
                    const std::string& result) {
  Merge merge(corpus);
  for (const std::string& part : parts) merge.add(part);
  return merge.write(result);
}

} // namespace uopscope
