// Two corpora or traces side by side, and one pair of compilations of them taken apart: what the window's
// comparison asks for, without a window. Everything here may take long and belongs to one thread.
//
//   ReplayBench bench;  auto diff = bench.open("before.uopcorpus", "after.uopcorpus", {});
//   auto both = bench.load(diff->changes[0]);            // rows in lock-step
//   auto [left, right] = bench.pictures(both->first);    // the graphs where the compilations part
//
// A trace is compared by way of a corpus made of it, a compilation of a corpus drawn by way of a trace made
// of it (compare/retell.h): one comparison and one kind of picture serve both. What is made lies in a folder
// that goes with the bench.
#pragma once
#include "replay/compare/difference.h"
#include "replay/compare/lock_step.h"
#include "replay/compare/stored_compilations.h"
#include "viz/models/compare/compare_view.h"
#include "viz/models/work/rich_text.h"
#include "viz/pictures/pass_view.h"

#include <QTemporaryDir>

namespace uopscope {

/// A row of the two compilations: what each side does, as words.
struct ReplayRow {
  QString left, right;             ///< rule, or name of the pass
  QString leftDetail, rightDetail; ///< operations before and after
  char mark = ' ';
  bool pass = false; ///< a pass begins
};

/// A fact that both sides have.
struct ReplayFact {
  QString name, before, after;
  bool differs = false;
};

struct ReplayPair {
  std::vector<ReplayRow> rows;
  size_t first = 0; ///< where they part
  bool parts = false;
  std::vector<ReplayFact> facts;
  QString sentence; ///< of the divergence; or why there is none
  QString problem;  ///< why there are no pictures
};

struct ReplayStep {
  QString leftPlace, rightPlace; ///< "initial symbolic, rewrite 3 of 10"
  QString leftHtml, rightHtml;   ///< what the rewrite made of what
  bool leftStays = false, rightStays = false;
};

struct ReplayPictures {
  PicturePtr left, right;
  /// Of a side that does nothing: the node that the other one rewrites, -1 where it has none.
  int64_t leftNode = -1, rightNode = -1;
};

struct ReplayLink {
  QString trace, link; ///< where a side is, for the debugger
};

class ReplayBench {
public:
  struct Limits {
    std::function<void(double share, const QString& what)> progress = {};
    const std::atomic<bool>* stop = nullptr;
  };
  ReplayBench();

  /// Error for files that are neither. Null when stopped.
  std::shared_ptr<const CorpusDiff> open(const std::string& before, const std::string& after,
                                         bool ignoreNames, const Limits& limits);
  /// Takes a change apart; the rest is about it.
  std::shared_ptr<const ReplayPair> load(const Change& change);
  ReplayStep step(size_t row);
  /// Both graphs as they are after a row; null where a side has none. Null both when stopped.
  ReplayPictures pictures(size_t row, bool leftToRight, const std::atomic<bool>* stop);
  /// Both graphs as one: "begin", "row" or "end".
  PicturePtr together(const QString& where, size_t row, bool leftToRight, const std::atomic<bool>* stop);
  /// "source", "ir" or "asm" side by side.
  std::vector<TextRow> texts(const QString& what, bool ignoreNames) const;
  /// Whether either side has such a text.
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
