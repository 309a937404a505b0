// Shared by the tests of the scheduler: builders of tensor graphs, an evaluator of tensor graphs that works
// on whole arrays (and so knows nothing of index expressions), and one of kernels that runs their loops.
//
//   Fixture f;  UOp a = f.tensor({2, 3});  f.check({sum(a, {1})}, 1);   // one kernel, right values
#pragma once
#include "engine/base/error.h"
#include "engine/schedule/schedule.h"
#include "engine/uop/eval.h"
#include "engine/uop/sint.h"
#include "engine/uop/unique.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <random>

namespace uopscope::test {

using Elements = std::vector<ConstValue>;
using Dims = std::vector<int64_t>;

inline Shape shapeOf(const Dims& dims) {
  return Shape(dims.begin(), dims.end());
}
inline Dims dimsOf(UOp u) {
  Dims d;
  for (const Sint& s : u.shape()) d.push_back(s.i());
  return d;
}
inline int64_t sizeOf(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

// --- builders ---

inline UOp reshape(UOp x, const Dims& dims) {
  return UOp::make(Op::RESHAPE, x.dtype(), {x, shapeToUOp(shapeOf(dims))});
}
inline UOp expand(UOp x, const Dims& dims) {
  return UOp::make(Op::EXPAND, x.dtype(), {x, shapeToUOp(shapeOf(dims))});
}
inline UOp permute(UOp x, const Dims& order) {
  return UOp::make(Op::PERMUTE, x.dtype(), {x}, Arg::of(order));
}
inline UOp pad(UOp x, const Dims& before, const Dims& after) {
  return UOp::make(Op::PAD, x.dtype(), {x, shapeToUOp(shapeOf(before)), shapeToUOp(shapeOf(after))});
}
inline UOp shrink(UOp x, const Dims& begin, const Dims& end) {
  return UOp::make(Op::SHRINK, x.dtype(), {x, shapeToUOp(shapeOf(begin)), shapeToUOp(shapeOf(end))});
}
inline UOp flip(UOp x, const Dims& flags) {
  return UOp::make(Op::FLIP, x.dtype(), {x}, Arg::of(flags));
}
inline UOp reduce(UOp x, Op op, const Dims& axes) {
  return UOp::make(Op::REDUCE_AXIS, x.dtype(), {x}, Arg::of(ReduceArg{op, axes}));
}
inline UOp sum(UOp x, const Dims& axes) {
  return reduce(x, Op::ADD, axes);
}
inline UOp contiguous(UOp x) {
  return UOp::make(Op::CONTIGUOUS, x.dtype(), {x});
}
inline UOp assign(UOp target, UOp value) {
  return UOp::make(Op::ASSIGN, target.dtype(), {target, value});
}
inline UOp scalar(double v, DType d = dtypes::float32) {
  return UOp::make(Op::CONST, d, {deviceNode("CPU")}, UOp::constant(d, v).arg());
}
inline UOp filled(double v, const Dims& dims, DType d = dtypes::float32) {
  return expand(reshape(scalar(v, d), Dims(dims.size(), 1)), dims);
}
inline UOp matmul(UOp a, UOp b) { // (m,k) x (k,n)
  int64_t m = dimsOf(a)[0], k = dimsOf(a)[1], n = dimsOf(b)[1];
  UOp left = expand(reshape(a, {m, 1, k}), {m, n, k});
  UOp right = expand(reshape(permute(b, {1, 0}), {1, n, k}), {m, n, k});
  return reshape(sum(left * right, {2}), {m, n});
}

// --- evaluation of tensor graphs ---

class ArrayEvaluator {
public:
  explicit ArrayEvaluator(std::map<uint32_t, Elements>& buffers) : buffers_(buffers) {}

  const Elements& operator()(UOp u) {
    for (UOp n : u.toposort([&](UOp v) { return !done_.contains(v.id()); }))
      if (n.hasShape() && n.dtype().kind() != Scalar::Index) done_.try_emplace(n.id(), compute(n));
    return done_.at(u.id());
  }

private:
  static int64_t flat(const Dims& dims, const Dims& at) {
    int64_t i = 0;
    for (size_t k = 0; k < dims.size(); ++k) i = i * dims[k] + at[k];
    return i;
  }
  /// Calls f(at, position) for every element in order.
  template <typename F>
  static void each(const Dims& dims, F f) {
    Dims at(dims.size(), 0);
    for (int64_t n = sizeOf(dims), i = 0; i < n; ++i) {
      f(at, static_cast<size_t>(i));
      for (size_t k = dims.size(); k-- > 0;) {
        if (++at[k] < dims[k]) break;
        at[k] = 0;
      }
    }
  }

  Elements compute(UOp u) {
    if (u.is(Op::BUFFER)) return buffers_.at(u.id());
    Dims dims = dimsOf(u);
    auto n = static_cast<size_t>(sizeOf(dims));
    if (u.is(Op::CONST)) return {u.constValue()};
    auto source = [&](size_t k) -> const Elements& { return done_.at(u.src(k).id()); };
    auto at = [&](const Elements& v, size_t i) { return v.size() == 1 ? v[0] : v[i]; };
    Elements out(n, convertConst(u.dtype(), ConstValue::ofInt(0)));
    switch (u.op()) {
    case Op::RESHAPE:
    case Op::CONTIGUOUS:
    case Op::CONTIGUOUS_BACKWARD:
    case Op::COPY:
    case Op::DETACH: return source(0);
    case Op::ASSIGN: return source(1);
    case Op::EXPAND: {
      Dims in = dimsOf(u.src(0));
      each(dims, [&](Dims where, size_t i) {
        for (size_t k = 0; k < in.size(); ++k)
          if (in[k] == 1) where[k] = 0;
        out[i] = source(0)[static_cast<size_t>(flat(in, where))];
      });
      return out;
    }
    case Op::PERMUTE: {
      Dims in = dimsOf(u.src(0)), order = u.arg().ints();
      each(dims, [&](const Dims& where, size_t i) {
        Dims from(in.size());
        for (size_t k = 0; k < in.size(); ++k) from[static_cast<size_t>(order[k])] = where[k];
        out[i] = source(0)[static_cast<size_t>(flat(in, from))];
      });
      return out;
    }
    case Op::PAD: {
      Shape before = uopToShape(u.src(1));
      each(dimsOf(u.src(0)), [&](Dims where, size_t i) {
        for (size_t k = 0; k < where.size(); ++k) where[k] += before[k].i();
        out[static_cast<size_t>(flat(dims, where))] = source(0)[i];
      });
      return out;
    }
    case Op::SHRINK: {
      Shape begin = uopToShape(u.src(1));
      Dims in = dimsOf(u.src(0));
      each(dims, [&](Dims where, size_t i) {
        for (size_t k = 0; k < where.size(); ++k) where[k] += begin[k].i();
        out[i] = source(0)[static_cast<size_t>(flat(in, where))];
      });
      return out;
    }
    case Op::FLIP:
      each(dims, [&](Dims where, size_t i) {
        for (size_t k = 0; k < where.size(); ++k)
          if (u.arg().ints()[k]) where[k] = dims[k] - 1 - where[k];
        out[i] = source(0)[static_cast<size_t>(flat(dims, where))];
      });
      return out;
    case Op::REDUCE_AXIS: {
      const auto& arg = u.arg().as<ReduceArg>();
      std::vector<bool> any(n, false);
      each(dimsOf(u.src(0)), [&](Dims where, size_t i) {
        for (int64_t a : arg.axes) where[static_cast<size_t>(a)] = 0;
        auto o = static_cast<size_t>(flat(dims, where));
        out[o] = any[o] ? evalAlu(arg.op, u.dtype(), u.dtype(), {out[o], source(0)[i]}) : source(0)[i];
        any[o] = true;
      });
      return out;
    }
    default: break;
    }
    for (size_t i = 0; i < n; ++i) {
      if (u.is(Op::CAST)) {
        out[i] = convertConst(u.dtype(), at(source(0), i));
        continue;
      }
      Elements operands;
      for (size_t k = 0; k < u.srcCount(); ++k) operands.push_back(at(source(k), i));
      out[i] = evalAlu(u.op(), u.dtype(), u.src(u.is(Op::WHERE) ? 1 : 0).dtype(), operands);
    }
    return out;
  }

  std::map<uint32_t, Elements>& buffers_;
  std::map<uint32_t, Elements> done_;
};

// --- evaluation of kernels ---

class KernelRunner {
public:
  KernelRunner(std::vector<Elements*> buffers, std::map<std::string, int64_t> vars)
      : buffers_(std::move(buffers)), vars_(std::move(vars)) {}

  void run(UOp sink) {
    for (UOp s : sink.src()) effect(s);
  }

private:
  void effect(UOp u) {
    if (u.is(Op::GROUP)) {
      for (UOp s : u.src()) effect(s);
    } else if (u.is(Op::END)) {
      std::vector<UOp> ranges(u.src().begin() + 1, u.src().end());
      loop(ranges, 0, [&] { effect(u.src(0)); });
    } else {
      REQUIRE(u.is(Op::STORE));
      int64_t at = value(u.src(0).src(1)).i;
      Elements& to = *buffers_.at(static_cast<size_t>(u.src(0).src(0).arg().i()));
      REQUIRE(at >= 0);
      REQUIRE(at < static_cast<int64_t>(to.size()));
      to[static_cast<size_t>(at)] = value(u.src(1));
    }
  }
  template <typename F>
  void loop(const std::vector<UOp>& ranges, size_t k, F body) {
    if (k == ranges.size()) return body();
    int64_t n = value(ranges[k].src(0)).i;
    for (int64_t i = 0; i < n; ++i) {
      ranges_[ranges[k].id()] = i;
      loop(ranges, k + 1, body);
    }
  }
  ConstValue value(UOp u) {
    switch (u.op()) {
    case Op::CONST: return u.constValue();
    case Op::RANGE: return ConstValue::ofInt(ranges_.at(u.id()));
    case Op::DEFINE_VAR: return ConstValue::ofInt(vars_.at(u.arg().as<VarArg>().name));
    case Op::INDEX: {
      if (u.src(0).is(Op::BUFFERIZE)) return stored(u.src(0), u.src().subspan(1));
      ConstValue at = value(u.src(1));
      if (at.isInvalid()) return convertConst(u.dtype(), ConstValue::ofInt(0));
      const Elements& from = *buffers_.at(static_cast<size_t>(u.src(0).arg().i()));
      REQUIRE_MESSAGE((at.i >= 0 && at.i < static_cast<int64_t>(from.size())), "read out of bounds in ",
                      u.str());
      return from[static_cast<size_t>(at.i)];
    }
    case Op::REDUCE: {
      std::vector<UOp> ranges(u.src().begin() + 1, u.src().end());
      std::optional<ConstValue> total;
      loop(ranges, 0, [&] {
        ConstValue v = value(u.src(0));
        total = total ? evalAlu(u.arg().op(), u.dtype(), u.dtype(), {*total, v}) : v;
      });
      REQUIRE(total);
      return *total;
    }
    case Op::WHERE: return value(u.src(0)).i ? value(u.src(1)) : value(u.src(2));
    case Op::CAST: return convertConst(u.dtype(), value(u.src(0)));
    default: break;
    }
    REQUIRE_MESSAGE(u.in(group::kAlu), "no value: ", u.str());
    Elements operands;
    for (UOp s : u.src()) operands.push_back(value(s));
    return evalAlu(u.op(), u.dtype(), u.src(0).dtype(), operands);
  }

  /// A value that the kernel stores for itself: computed where it is read.
  ConstValue stored(UOp buffer, std::span<const UOp> index) {
    std::map<uint32_t, int64_t> around = ranges_;
    for (size_t k = 0; k < index.size(); ++k) {
      ConstValue at = value(index[k]);
      if (at.isInvalid()) return convertConst(buffer.dtype(), ConstValue::ofInt(0));
      around[buffer.src(k + 1).id()] = at.i;
    }
    std::swap(ranges_, around);
    ConstValue v = value(buffer.src(0));
    std::swap(ranges_, around);
    return v;
  }

  std::vector<Elements*> buffers_;
  std::map<std::string, int64_t> vars_;
  std::map<uint32_t, int64_t> ranges_;
};

// --- fixture ---

struct Fixture {
  Pool pool;
  PoolScope scope{pool};
  std::map<uint32_t, Elements> memory; ///< by id of the BUFFER
  std::mt19937 random{7};

  Fixture() { clearScheduleCache(); }

  /// A new buffer of small whole numbers, exact in every type.
  UOp buffer(int64_t size, DType d = dtypes::float32, const char* device = "CPU") {
    UOp b = newBuffer(device, d, size);
    Elements& values = memory[b.id()];
    for (int64_t i = 0; i < size; ++i)
      values.push_back(convertConst(d, ConstValue::ofInt(static_cast<int64_t>(random() % 7) - 3)));
    return b;
  }
  UOp tensor(const Dims& dims, DType d = dtypes::float32) { return reshape(buffer(sizeOf(dims), d), dims); }

  Schedule schedule(const std::vector<UOp>& outputs) { return createSchedule(UOp::sink(outputs)); }

  Elements& memoryOf(UOp b) {
    if (b.is(Op::BUFFER_VIEW)) { // the plan covers arenas; separate values suffice here
      Elements& v = memory[b.id()];
      v.resize(static_cast<size_t>(b.arg().ints()[0]));
      return v;
    }
    auto [it, isNew] = memory.try_emplace(b.id());
    if (isNew) it->second.resize(static_cast<size_t>(b.arg().i()));
    return it->second;
  }
  void run(const Schedule& s) {
    std::map<std::string, int64_t> vars(s.vars.begin(), s.vars.end());
    for (const ScheduleItem& item : s.items) {
      std::vector<Elements*> buffers;
      for (const UOpRef& b : item.buffers) buffers.push_back(&memoryOf(b));
      if (item.ast.is(Op::COPY)) {
        *buffers[0] = *buffers[1];
        continue;
      }
      PoolScope there(*item.pool);
      KernelRunner(buffers, vars).run(item.ast);
    }
  }
  static UOp became(const Schedule& s, UOp node) {
    for (const auto& [from, to] : s.becomes)
      if (from.get() == node) return to;
    return {};
  }
  /// Schedules the graph, runs it and compares with its values; compares the number of kernels too unless
  /// negative.
  Schedule check(const std::vector<UOp>& outputs, int kernels = -1) {
    std::vector<Elements> want;
    {
      ArrayEvaluator direct(memory);
      for (UOp o : outputs) want.push_back(direct(o));
    }
    Schedule s = schedule(outputs);
    if (kernels >= 0) CHECK(static_cast<int>(s.items.size()) == kernels);
    run(s);
    for (size_t k = 0; k < outputs.size(); ++k) {
      UOp at = became(s, outputs[k]);
      REQUIRE_MESSAGE(at, "no place for output ", k);
      ArrayEvaluator result(memory);
      const Elements& got = result(at);
      REQUIRE(got.size() == want[k].size());
      for (size_t i = 0; i < got.size(); ++i) {
        double a = got[i].asDouble(), b = want[k][i].asDouble();
        REQUIRE_MESSAGE((a == b || (std::isnan(a) && std::isnan(b)) ||
                         std::abs(a - b) < 1e-4 * std::max(1.0, std::abs(b))),
                        "output ", k, " element ", i, ": ", a, " instead of ", b);
      }
    }
    return s;
  }
};

} // namespace uopscope::test
