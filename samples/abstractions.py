# A tour from a Tensor down to machine code: every layer of the compiler in one small example.
#   app/run run samples/abstractions.py
#   app/run samples/abstractions.py               every rewrite between these stages, step by step
# Runs on tinygrad as well.
import numpy as np
from tinygrad import Device, Tensor, UOp
from tinygrad.codegen import get_program
from tinygrad.uop.ops import KernelInfo, Ops, PatternMatcher, UPat, graph_rewrite

# --- 1. Tensor. A handle on a graph of UOps; nothing has been computed.
a, b = Tensor([1.0, 2.0, 3.0, 4.0]).realize(), Tensor([4.0, 3.0, 2.0, 1.0]).realize()
out = (a * 2 + b).sum()
print("1. the tensor graph\n", out.uop)
ops = [u.op for u in out.uop.toposort()]
assert Ops.REDUCE_AXIS in ops and Ops.BUFFER in ops

# --- 2. UOp. The one kind of node there is: an operation, a dtype, sources, an argument. Equal nodes are one object.
x = UOp.variable("x", 0, 9)
assert (x + 1) is (x + 1)
print("2. symbolic:", ((x * 4 + 2) // 4).simplify().render(), (x % 10).simplify().render())
assert ((x * 4 + 2) // 4).simplify() is x and (x % 10).simplify() is x

# --- 3. Rewriting. The compiler is rules: a pattern, and what stands in its place. None: it does not apply.
rules = PatternMatcher([(UPat.var("v") * UPat.cvar("c"), lambda v, c: v + v if c.arg == 2 else None)])
twice = graph_rewrite(x * 2, rules)
assert twice.op is Ops.ADD and twice.src[0] is twice.src[1]

# --- 4. Schedule. The tensor graph becomes kernels; here one, since everything can be fused.
schedule = out.schedule()
ast = schedule[-1].ast
print(f"4. {len(schedule)} kernel(s); the last one's root is {ast.op}")
assert len(schedule) == 1 and ast.op is Ops.SINK

# --- 5. Program. Loops are chosen, indices computed, the graph put in order and printed as source.
program = get_program(ast, Device[Device.DEFAULT].renderer)
print("5.", program.name, "\n" + program.src)

# --- 6. Run. What the handle stands for is now a buffer.
for item in schedule: item.run()
assert out.item() == 30.0 and out.uop.base.op is Ops.BUFFER

# --- 7. The other way round: a kernel written as UOps, for what no operation does.
def add_one(C, A):
  i = UOp.range(A.size, 0)
  return C[i].store(A[i] + 1).end(i).sink(arg=KernelInfo(name="add_one"))
c = Tensor.custom_kernel(Tensor.empty(4), a, fxn=add_one)[0]
assert np.array_equal(c.numpy(), [2, 3, 4, 5])
print("7. a kernel by hand:", c.tolist())
