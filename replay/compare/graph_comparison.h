// Compares two graphs under a given set of unknown functions. The kind of the roots decides the method.
#pragma once
#include "replay/compare/rewrite_check.h"

namespace uopscope {

class GraphComparison {
public:
  GraphComparison(Variables& variables, const CheckLimits& limits, PassMemory& pass)
      : ctx_(variables), limits_(limits), pass_(pass) {}

  /// Handles rewrites that rename a buffer or a loop; names must map one to one in a pass. False: no such
  /// rewrite.
  bool byName(UOp before, UOp after, ValueCheck& out);
  /// Throws Error where a part cannot be computed.
  ValueCheck compare(UOp before, UOp after, std::unordered_set<uint32_t> opaque);
  /// `after` against the derivative of one operation along the tangents of its sources.
  ValueCheck compareTangent(UOp before, UOp after, const UOpMap<UOp>& tangents);

private:
  enum class Form : uint8_t { Effect, Memory, Address, Tensor, Value };
  struct Leaf {
    UOp effect; ///< STORE, or an effect that both sides share
    VariableList loops;
    bool token = false;
  };
  struct Write {
    const Leaf* leaf = nullptr;
    UOp memory; ///< null for a token
    size_t lane = 0;
    std::vector<std::pair<uint32_t, int64_t>> at;
  };
  using Writes = std::map<std::pair<uint64_t, int64_t>, Write>;

  static Form formOf(UOp u);
  ValueCheck compareValues(UOp before, UOp after);
  ValueCheck compareTensors(UOp before, UOp after);
  ValueCheck compareRanged(UOp before, UOp after, const std::vector<UOp>& at);
  ValueCheck compareStored(UOp bufferize, UOp after);
  ValueCheck compareAddresses(UOp before, UOp after);
  bool isSameLoop(UOp range, UOp after);
  ValueCheck compareLoops(UOp range, UOp after);
  ValueCheck compareMemory(UOp before, UOp after);
  ValueCheck compareEffects(UOp before, UOp after);
  ValueCheck compareGradient(UOp before, UOp after);
  ValueCheck compareOutputs(UOp before, UOp after);
  ValueCheck compareGivenByHand(UOp before, UOp after);

  void leavesOf(UOp u, VariableList& loops, std::vector<Leaf>& out, bool launched);
  ValueCheck compareLeaves(std::vector<Leaf> left, std::vector<Leaf> right, const VariableList& open);
  ValueCheck comparePointwise(const std::vector<Leaf>& left, const std::vector<Leaf>& right,
                              const VariableList& open, const VariableList& common,
                              const std::map<uint32_t, uint32_t>& renamed);
  Writes writesOf(GraphValues& v, const std::vector<Leaf>& leaves, const VariableList& common);
  static Lanes valueOf(GraphValues& v, const Write& w);
  bool keepsContents(GraphValues& v, const Write& w, int64_t address) const;
  std::optional<std::string> writeDiffers(GraphValues& a, GraphValues& b, const Writes& left,
                                          const Writes& right, uint64_t hash, ValueCheck& out);

  /// Calls f with both sides' values for each sample; false ends with the difference that f stored in `out`.
  ValueCheck sample(UOp before, UOp after, const VariableList& variables,
                    const std::function<bool(GraphValues&, GraphValues&, uint64_t, ValueCheck&)>& f);
  void assign(GraphValues& a, GraphValues& b, const VariableList& variables, int n, uint64_t seed);
  ValueCheck same(int samples) const;
  static ValueCheck differs(std::string where, std::string before, std::string after);
  bool lanesAlike(const Lanes& a, const Lanes& b, ValueCheck& out) const;

  ValueContext ctx_;
  const CheckLimits& limits_;
  PassMemory& pass_;
  int64_t spent_ = 0;                 ///< part of limits_.total
  std::map<uint32_t, int64_t> bound_; ///< values of variables that BIND fixes
};

} // namespace uopscope
