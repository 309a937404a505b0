// The loops of a streamed softmax (streams.h), stage by stage: each stage fills memory of the kernel from what earlier ones filled.
//
//   Stream stream(sink, sums, store, {64, 64});
//   UOp end = stream.kernel();         // the END in place of the one around `store`
//
// Invariant: the stages of a block form a chain. Each waits, by AFTER, for the one that filled what it reads and for the last
// reader of what it overwrites.
#pragma once
#include "engine/rules/softmax_sums.h"

namespace uopscope {

class Stream {
public:
  /// Rows and keys of a block.
  struct Block {
    int64_t rows, keys;
  };
  Stream(UOp sink, const SoftmaxSums& sums, UOp store, Block block);

  UOp kernel();
  /// Whether a mask hides blocks of keys, which are skipped.
  bool isCut() const { return isCut_; }

private:
  /// Memory of the kernel for a number of each row, or of several. `done` is the last effect that filled it.
  struct Rows {
    UOp memory, done;
    /// Read in each step of `loop`, if there is one, which fills it anew.
    UOp at(UOp place, UOp loop = {}) const {
      std::vector<UOp> before{done};
      if (loop) before.push_back(loop);
      return memory.after(before).indexed({place}, memory.dtype().base());
    }
  };
  /// A sum and the memory that carries it.
  struct Carried {
    SoftmaxSums::Sum sum;
    Rows rows;
    int64_t columns;  ///< 0: one number of each row
    Rows factor = {}; ///< a copy of a block of the factor, as keys x columns, if it has one
  };

  UOp fresh(int64_t steps) { return UOp::range(steps, nextId_++); }
  Rows memory(int64_t size);
  UOp toFill(const Rows& rows, UOp place) const;
  void cutRows();
  UOp addressOf(UOp address, UOp row) const;
  Rows cleared(int64_t size, UOp value);
  UOp weightOf(UOp score, UOp maximum) const;
  UOp scaleOf(UOp before, UOp maximum) const;
  UOp scores(UOp key, UOp firstKey, UOp row);
  void goThrough(UOp firstKey, int64_t keys, UOp loop);
  UOp factorOf(const Carried& c, UOp key, UOp firstKey, UOp row, UOp column) const;
  void sumUp(Carried& c, const Rows& scale, UOp firstKey, int64_t keys, UOp loop);
  void finish(UOp done);
  Rows copied(const SoftmaxSums::Product& p);
  void copyKeys(UOp firstKey, int64_t keys);
  Rows copyOfKeys(Rows copy, UOp value, std::span<const UOp> along, UOp firstKey, int64_t keys);

  const SoftmaxSums& sums_;
  const int64_t rows_, keys_; ///< of a block
  UOp store_;
  std::vector<UOp> loops_; ///< of the kernel, around everything
  int64_t nextId_, nextMemory_;
  UOp firstRow_, ownFirst_; ///< of a block; the first one that no block before has
  UOp again_;               ///< whether it is a block that was computed before; null: none is
  bool readsOwn_ = false;   ///< the memory that it stores to is read
  bool isCut_ = false;      ///< a mask hides blocks of keys
  Rows weights_, largest_, before_;
  std::vector<Rows> operands_; ///< copies of the rows' operands, as terms x rows
  std::vector<Rows>
      ofKeys_; ///< copies of a block of the keys' operands, as keys x terms, of those that have one
  std::vector<Carried> carried_;
};

} // namespace uopscope
