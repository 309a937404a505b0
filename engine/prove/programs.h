// Tensor programs in which rules of memory, loops, shapes and gradients apply. Each program is compiled for
// several targets and run by the reference interpreter. Its results are compared with the tensor graph
// evaluated directly.
//
//   ProgramResults r = runPrograms(keep);
//   r.right.at(&def)      the number of programs with right results in which the rule applied
//   keep.of(&def)         some of its rewrites, to be compared one by one
//
// Floats are compared within a few units in the last place, since a sum may be added in any order.
#pragma once
#include "engine/rewrite/observer.h"
#include "engine/tensor/tensor.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace uopscope::prove {

/// A program: its name and its tensors. The inputs are realized.
struct TensorProgram {
  std::string_view name;
  std::vector<Tensor> (*make)();
};
std::span<const TensorProgram> tensorPrograms();

/// A value, and the inputs for the gradient of the sum of its squares.
struct Differentiated {
  Tensor value;
  std::vector<Tensor> inputs;
};
struct GradientProgram {
  std::string_view name;
  Differentiated (*make)();
};
std::span<const GradientProgram> gradientPrograms();

/// Records the rules that apply, and the first small rewrites of each, in a pool of its own.
class Rewrites : public Observer {
public:
  explicit Rewrites(size_t most) : most_(most) {}
  Control onRewrite(const RewriteEvent& e) override;
  void onPassEnd(const PassEnd& e) override;
  void beginProgram() { applied_.clear(); }
  const std::set<const RuleDef*>& applied() const { return applied_; }
  const std::vector<std::pair<UOp, UOp>>& of(const RuleDef* rule) const;
  /// The graphs at the ends of passes.
  const std::vector<UOp>& graphs() const { return graphs_; }
  Pool& pool() { return pool_; }

private:
  size_t most_;
  Pool pool_;
  std::set<const RuleDef*> applied_;
  std::map<const RuleDef*, std::vector<std::pair<UOp, UOp>>> some_;
  std::set<std::pair<uint32_t, uint32_t>> seen_;
  std::vector<UOp> graphs_;
};

struct ProgramResults {
  std::map<const RuleDef*, int> right;
  /// "conv for CUDA: element 3 is 2.5 instead of 2", or the error that ended a program.
  std::vector<std::string> wrong;
  int runs = 0;
};
ProgramResults runPrograms(Rewrites& keep);

} // namespace uopscope::prove
