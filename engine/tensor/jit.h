// TinyJit: a function of tensors that is scheduled once and then only launched.
//
//   TinyJit step([&](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0].matmul(w).relu()}; });
//   for (...) Tensor y = step({batch})[0];      // 1st call runs, 2nd captures, from the 3rd on it replays
//
// What changes from call to call are the buffers of the tensors handed in and the values of bound variables;
// everything else the function touches (weights, constants) stays as it was at the capture. The tensors a
// replay returns are those of the capture: their memory is written anew by every call. docs/design/jit.md
// tells how.
#pragma once
#include "engine/base/error.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/run_capture.h"
#include "engine/tensor/old_contents.h"
#include "engine/tensor/tensor.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace uopscope {

/// A function that cannot be captured, or a call that does not fit the capture.
class JitError : public Error {
public:
  explicit JitError(const std::string& message) : Error(ErrorKind::Runtime, message) {}
};

/// The arguments of a captured function: realized tensors, one buffer each, and variables by name.
struct JitInputs {
  std::vector<UOpRef> views; ///< movement operations over a BUFFER
  std::vector<std::shared_ptr<Buffer>> buffers;
  VarValues variables; ///< in order of name

  /// Realizes tensors that are not. Throws JitError for constants and for one buffer given twice.
  static JitInputs of(const std::vector<Tensor>& tensors, const std::vector<UOp>& bound = {});
};

class CapturedJit {
public:
  /// Everything a capture knows, to be kept elsewhere and made a capture again.
  struct Parts {
    CapturedRun::Parts run;
    std::vector<UOpRef> views; ///< of the inputs, over buffers without memory
    std::vector<std::string> names;
    std::vector<Tensor> results;
    std::vector<std::pair<size_t, size_t>> passed;
  };
  CapturedJit() = default;
  explicit CapturedJit(Parts parts)
      : run_(std::move(parts.run)), views_(std::move(parts.views)), names_(std::move(parts.names)),
        values_(names_.size()), results_(std::move(parts.results)), passed_(std::move(parts.passed)) {
    guard_.watch(run_.memory());
  }
  Parts parts() const { return {run_.parts(), views_, names_, results_, passed_}; }
  void freeIntermediates() { run_.freeIntermediates(); }
  /// Runs the body and keeps its launches. `results` are realized before the capture ends.
  static CapturedJit capture(const JitInputs& inputs,
                             const std::function<std::vector<Tensor>(const JitInputs&)>& body, bool prune);
  /// Launches all of it on other inputs. Throws JitError where their shapes, views, types or devices differ.
  void replay(const JitInputs& inputs);
  const std::vector<Tensor>& results() const { return results_; }
  const CapturedRun& run() const { return run_; }

private:
  /// Throws where a call's inputs are not like those of the capture.
  void check(const JitInputs& inputs) const;

  CapturedRun run_;
  std::vector<UOpRef> views_;
  std::vector<std::string> names_;
  std::vector<int64_t> values_;
  std::vector<Tensor> results_;
  std::vector<std::pair<size_t, size_t>> passed_; ///< (result, input): a view of what was handed in
  ReplayGuard guard_;
};

class TinyJit {
public:
  using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
  explicit TinyJit(Function f, bool prune = false) : function_(std::move(f)), prune_(prune) {}
  /// `bound` are variables with values (BINDs) that the function uses.
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs, const std::vector<UOp>& bound = {});
  /// The next call runs, the one after captures again.
  void reset();
  const std::optional<CapturedJit>& captured() const { return captured_; }

private:
  Function function_;
  bool prune_;
  int calls_ = 0;
  std::optional<CapturedJit> captured_;
};

} // namespace uopscope
