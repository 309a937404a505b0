// Compares two corpora or traces, and takes one pair of their compilations apart. It does the work of the
// window's comparison without a window. All functions may take long, and an object belongs to one thread.
//
//   ReplayBench bench;  auto diff = bench.open("before.uopcorpus", "after.uopcorpus", {});
//   auto both = bench.load(diff->changes[0]);            // rows in lock-step
//   auto [left, right] = bench.pictures(both->first);    // the graphs where the compilations part
//
// A trace is compared through a corpus made of it; a compilation of a corpus is drawn through a trace made of
// it (replay/compare/retell.h). One comparison and one kind of picture thus serve both. The bench removes the
// folder of these files when it is destroyed.
#pragma once
#include "replay/compare/difference.h"
#include "replay/compare/lock_step.h"
#include "replay/compare/stored_compilations.h"
#include "viz/models/compare/compare_view.h"
#include "viz/models/work/rich_text.h"
#include "viz/pictures/pass_view.h"

#include <QTemporaryDir>

namespace uopscope {

/// A row of the two compilations: each side's event in words.
struct ReplayRow {
  QString left, right;             ///< rule, or name of the pass
  QString leftDetail, rightDetail; ///< operations before and after
  char mark = ' ';
  bool pass = false; ///< a pass begins
};

/// A fact about both sides.
struct ReplayFact {
  QString name, before, after;
  bool differs = false;
};

struct ReplayPair {
  std::vector<ReplayRow> rows;
  size_t first = 0; ///< the row of the divergence
  bool parts = false;
  std::vector<ReplayFact> facts;
  QString sentence; ///< the divergence in words; or the reason why there is none
  QString problem;  ///< the reason why there are no pictures
};

struct ReplayStep {
  QString leftPlace, rightPlace; ///< "initial symbolic, rewrite 3 of 10"
  QString leftHtml, rightHtml;   ///< the expressions before and after the rewrite
  bool leftStays = false, rightStays = false;
};

struct ReplayPictures {
  PicturePtr left, right;
  /// Where a side makes no rewrite: its node for the other side's rewritten node, -1 for none.
  int64_t leftNode = -1, rightNode = -1;
};

struct ReplayLink {
  QString trace, link; ///< the state of a side, for the debugger
};

class ReplayBench {
public:
  struct Limits {
    std::function<void(double share, const QString& what)> progress = {};
    const std::atomic<bool>* stop = nullptr;
  };
  ReplayBench();

  /// Throws Error for files that are neither corpus nor trace. Returns null when stopped.
  std::shared_ptr<const CorpusDiff> open(const std::string& before, const std::string& after,
                                         bool ignoreNames, const Limits& limits);
  /// Takes a change apart; the functions below refer to it.
  std::shared_ptr<const ReplayPair> load(const Change& change);
  ReplayStep step(size_t row);
  /// Both graphs after a row; null where a side has none. Both are null when stopped.
  ReplayPictures pictures(size_t row, bool leftToRight, const std::atomic<bool>* stop);
  /// Both graphs in one picture, at the "begin", a "row" or the "end".
  PicturePtr together(const QString& where, size_t row, bool leftToRight, const std::atomic<bool>* stop);
  /// The "source", "ir" or "asm" of both sides.
  std::vector<TextRow> texts(const QString& what, bool ignoreNames) const;
  /// Whether one of the sides has such a text.
  bool has(const QString& what) const;
  ReplayLink link(size_t row, bool before) const;

private:
  struct Side {
    std::string given, stamp; ///< as opened
    std::unique_ptr<StoredCompilations> stored;
    std::optional<Corpus> corpus;
    Compilation made;
    Story story;
    std::string tracePath;
    std::unique_ptr<Trace> trace;
    std::vector<PassId> passes; ///< in order of begin
    std::map<PassId, std::unique_ptr<PassView>> views;
    bool isTrace() const { return stored->path() != given; }
    PassId passOf(const LockPlace& place) const;
  };
  void openSide(Side& side, const std::string& path, double from, const Limits& limits);
  void loadSide(Side& side, const std::optional<CorpusEntry>& entry, const char* name);
  static int64_t sameNode(Side& moved, const LockPlace& at, Side& stayed, const LockPlace& there);
  PicturePtr picture(Side& side, const LockPlace& place, bool leftToRight, const std::atomic<bool>* stop);

  QTemporaryDir folder_;
  Side before_, after_;
  LockStep both_;
  int made_ = 0;
};

} // namespace uopscope
