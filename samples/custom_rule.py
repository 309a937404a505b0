# Rules of your own: a PatternMatcher written in Python takes part like a built-in one.
# Look at: the passes "my algebra" and "my strength reduction": every step names the rule with its line in this file,
# and the statistics count its attempts beside those of the compiler's own rules.
from tinygrad.uop.ops import UOp, UPat, Ops, PatternMatcher, graph_rewrite
from tinygrad.dtype import dtypes

algebra = PatternMatcher([
  # (x*c) + (y*c) -> (x+y)*c
  (UPat.var("x") * UPat.cvar("c") + UPat.var("y") * UPat.cvar("c"), lambda x, y, c: (x + y) * c),
  (UPat.var("x") * 1, lambda x: x),
])

def shift(x, c, ctx):
  power = c.arg.bit_length() - 1
  if c.arg != 1 << power: return None  # declined: not a power of two
  ctx.append(c.arg)
  return x.alu(Ops.SHL, x.const_like(power))

reduce_strength = PatternMatcher([(UPat.var("x", dtypes.ints) * UPat.cvar("c"), shift)])

i, j = UOp.variable("i", 0, 63, dtypes.int), UOp.variable("j", 0, 63, dtypes.int)
expression = (i * 8 + j * 8) * 1
simpler = graph_rewrite(expression, algebra, name="my algebra")
seen = []
shifted = graph_rewrite(simpler, reduce_strength, ctx=seen, name="my strength reduction")

print("before: ", expression.render())
print("algebra:", simpler.render())
print("shifted:", shifted.op, "of", shifted.src[0].render(), "by", shifted.src[1].arg, "- multiplications replaced:", seen)
assert simpler is (i + j) * 8
assert shifted.op is Ops.SHL and seen == [8]
