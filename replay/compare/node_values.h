// The number of every node of a graph, for one run of a kernel: at chosen iterations of its loops, with given or
// made-up inputs. Before and after a rewrite, and from the first graph of a kernel to the last.
//
//   ValueChoice choice;
//   chooseLoops(choice, "r0=3,gidx0=1");  chooseInput(choice, "data1=0.5");
//   StepValues v = valuesOfStep(trace, cursor, 11, 12, choice, {});       // rows: node, before, after, differs
//   for (const ValueWay& w : valueWays(trace, kernel, choice, {})) ...    // one stored element, pass by pass
//
// GraphValues computes; nothing is compiled, and no code of a file runs. A loop that is not chosen stands at its
// first iteration, a variable at the value that the script bound. Memory holds the stores of the iterations before the chosen ones. A node without a number has a reason.
#pragma once
#include "replay/compare/graph_values.h"
#include "replay/read/cursor.h"

#include <algorithm>

namespace uopscope {

struct ValueChoice {
  /// Iteration by the name of the loop ("r0", "gidx0"), or the value of a variable by its name.
  std::map<std::string, int64_t> at = {};
  std::map<std::string, int64_t> bound = {}; ///< of variables that `at` does not name: boundVariables()
  TensorIndex element = {};                  ///< of the tensors of a schedule; empty: the first
  std::map<int64_t, std::vector<double>> inputs = {}; ///< by parameter; the numbers repeat
  uint64_t seed = 1;                                  ///< of inputs that are not given
};
/// Adds "r0=3,gidx0=1" (ridx0 and Lidx0, as in the C of a kernel, name r0 too) or an element, "2,5".
/// Error(Value) explains the form.
void chooseLoops(ValueChoice& choice, const std::string& text);
/// Adds "data1=0.5" (every element), "data1=1,2,3" (repeated) or "data1=count" (0, 1, 2 ...).
void chooseInput(ValueChoice& choice, const std::string& text);

/// The values that the script bound to the variables of a kernel or schedule, as the schedule that made it has them.
/// Empty where the trace binds none.
std::map<std::string, int64_t> boundVariables(Trace& trace, ScopeId scope);

struct ChosenLoop {
  std::string name, kind; ///< "r0", "LOOP"; a variable is a "DEFINE_VAR"
  int64_t first = 0, last = 0, at = 0;
  std::string shown{}; ///< as boxes and expressions say it: "L0", where `name` is "r0"
};
struct ChosenInput {
  int64_t parameter = 0, size = 0;
  std::string name, dtype, contents; ///< "data1", "float", "made up"
};

/// The number of a node, in words.
struct NodeNumber {
  Lanes lanes;      ///< empty: it has no number
  std::string text; ///< "3.5", "(1, 2, … 16)", "data1[37]", "data0[5] = 2.5"; empty: none
  std::string note; ///< where a LOAD reads, that a gate is off, or why there is no number
};

struct StepValues {
  struct Row {
    NodeId node = kNoNode, before = kNoNode; ///< in the graph after; the node it took over from, or none
    NodeNumber now, was;                     ///< was: of `before`
    bool differs = false;                    ///< from `was`, or from the first graph of the kernel
    std::string should;                      ///< the number that the first graph gives
  };
  std::vector<ChosenLoop> loops; ///< of the graph after
  std::vector<ChosenInput> inputs;
  std::vector<Row> rows; ///< sources first
  size_t differ = 0;
  bool complete = true; ///< false: stopped
};
/// Numbers of the graph after `to` steps, beside those after `from` steps. Error(Value) for a loop or an iteration
/// that does not exist, where `strict`; without it such choices are left out.
StepValues valuesOfStep(Trace& trace, Cursor& cursor, int64_t from, int64_t to, const ValueChoice& choice,
                        const std::function<bool()>& stop, bool strict = false);

/// One element that the kernel stores, from its first graph on.
struct ValueWay {
  struct Row {
    PassId pass = 0; ///< 0: the first graph
    std::string name, text, note;
    bool differs = false;
  };
  std::string element; ///< "data0[5]"
  std::vector<Row> rows;
  PassId wrongPass = 0; ///< the first pass that changes the number, and its step; 0: none
  int64_t wrongStep = 0;
};
/// The elements that the stores of the first graph write at the chosen iterations, after every pass of the kernel.
/// Error(Value) for a scope that is no kernel.
std::vector<ValueWay> valueWays(Trace& trace, ScopeId kernel, const ValueChoice& choice,
                                const std::function<bool()>& stop);

/// A graph at the chosen place.
class NodeValues {
public:
  NodeValues(ValueContext& context, UOp root);
  const std::vector<ChosenLoop>& loops() const { return loops_; }
  bool hasVariables() const {
    return std::ranges::find(loops_, "DEFINE_VAR", &ChosenLoop::kind) != loops_.end();
  }
  /// Chooses as far as the graph has these loops and variables; returns why some were not chosen. Variables come first:
  /// the extent of a loop may be one. A variable that nobody chose has its bound value, or the smallest.
  std::vector<std::string> choose(const ValueChoice& choice);
  /// The variables alone.
  std::vector<std::string> chooseVariables(const ValueChoice& choice);
  /// Binds the loop of a RANGE, SPECIAL or DEFINE_VAR.
  void bind(UOp loop, int64_t iteration);
  NodeNumber numberOf(UOp u);
  GraphValues& values() { return *values_; }
  UOp root() const { return root_; }
  /// The stores to parameters and the elements they write now, one for each lane.
  struct Stored {
    uint64_t memory = 0;
    int64_t index = 0;
    std::string name; ///< "data0[5]"
    UOp store;
  };
  std::vector<Stored> stored();
  /// The value that the graph stores to an element, wherever its loops have to stand for it. None: no store was
  /// found that writes it.
  std::optional<ConstValue> valueStoredTo(uint64_t memory, int64_t index);

private:
  void findLoops();
  ChosenLoop* loopNamed(const std::string& given);
  void take(const ChosenLoop& loop, int64_t at);
  void placeElements(const TensorIndex& element);
  NodeNumber numberOrError(UOp u);
  NodeNumber storeNumber(UOp u);
  bool reach(UOp store, uint64_t memory, int64_t index, size_t& lane);

  ValueContext& context_;
  UOp root_;
  std::unique_ptr<GraphValues> values_;
  std::vector<ChosenLoop> loops_;
  std::vector<uint32_t> keys_; ///< of loops_
  std::vector<UOp> nodes_;     ///< of loops_; null: lanes of a loop that is gone
  UOpMap<TensorIndex> places_; ///< of tensors
  std::vector<UOp> order_;
};

/// Makes a context for one run: memory as chosen or made up. `stop` is asked while it computes.
ValueContext runContext(Variables& variables, const ValueChoice& choice, const std::function<bool()>& stop);

} // namespace uopscope
