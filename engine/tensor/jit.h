// TinyJit: a function of tensors that is scheduled once and then only launched.
//
//   TinyJit step([&](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0].matmul(w).relu()}; });
//   for (...) Tensor y = step({batch})[0];      // 1st call runs, 2nd captures, from the 3rd on it replays
//
// Between calls, the buffers of the tensors passed in and the values of bound variables may change.
// Everything else that the function uses (weights, constants) stays as it was at the capture. A replay
// returns the tensors of the capture, and every call overwrites their memory. docs/design/jit.md has the
// details.
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

class CapturedJit;

/// The arguments of a captured function: realized tensors with one buffer each, and variables by name.
struct JitInputs {
  std::vector<UOpRef> views; ///< movement operations over a BUFFER
  std::vector<std::shared_ptr<Buffer>> buffers;
  VarValues variables; ///< sorted by name

  /// Realizes tensors if needed; a copy that still shares a buffer with memory of the function (of any function,
  /// before the capture) gets memory of its own. Throws JitError for a constant, and for a buffer passed twice.
  static JitInputs of(const std::vector<Tensor>& tensors, const std::vector<UOp>& bound = {},
                      const CapturedJit* captured = nullptr);
};

class CapturedJit {
public:
  /// The contents of a capture, which may be stored elsewhere and made a capture again.
  struct Parts {
    CapturedRun::Parts run;
    std::vector<UOpRef> views; ///< views of the inputs, over buffers without memory
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
  /// Runs the body and records its launches. `results` are realized before the capture ends.
  static CapturedJit capture(const JitInputs& inputs,
                             const std::function<std::vector<Tensor>(const JitInputs&)>& body, bool prune);
  /// Launches everything on new inputs. Throws JitError if shapes, views, types or devices differ.
  void replay(const JitInputs& inputs);
  /// Whether the function reads or writes this memory without being handed it.
  bool uses(const Buffer& buffer) const { return guard_.uses(buffer); }
  const std::vector<Tensor>& results() const { return results_; }
  const CapturedRun& run() const { return run_; }

private:
  /// Throws if the inputs of a call do not fit those of the capture.
  void check(const JitInputs& inputs) const;

  CapturedRun run_;
  std::vector<UOpRef> views_;
  std::vector<std::string> names_;
  std::vector<int64_t> values_;
  std::vector<Tensor> results_;
  std::vector<std::pair<size_t, size_t>> passed_; ///< (result, input): the result is a view of the input
  ReplayGuard guard_;
};

class TinyJit {
public:
  using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
  explicit TinyJit(Function f, bool prune = false) : function_(std::move(f)), prune_(prune) {}
  /// `bound` are the bound variables (BINDs) that the function uses.
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs, const std::vector<UOp>& bound = {});
  /// Makes the next call run, and the call after it capture again.
  void reset();
  const std::optional<CapturedJit>& captured() const { return captured_; }

private:
  Function function_;
  bool prune_;
  int calls_ = 0;
  std::optional<CapturedJit> captured_;
};

} // namespace uopscope
