# The rules of division and remainder, under the reference's module name. They are part of the engine's symbolic rules.
#
#   fold_divmod_general((x * 4 + 3) // 4)       # x, for x >= 0
import functools
from _uopscope import Matcher
from tinygrad.uop.ops import Ops
from tinygrad.uop.symbolic import symbolic
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

div_and_mod_symbolic = Matcher([rule for rule in symbolic.rules if "IDIV" in rule.pattern_text or "MOD" in rule.pattern_text])
@functools.cache
def fold_divmod_general(d, correct_divmod_folding=True):
  """The division or remainder in a simpler form, or None. The folding is always correct for negative numbers."""
  return div_and_mod_symbolic.rewrite(d) if d.op in (Ops.IDIV, Ops.MOD) else None
