# The rules of the expander: ranges of the types UPCAST and UNROLL become lanes.
from _uopscope import builtin_matcher as _builtin
from uopscope.absent import lacking
from tinygrad.uop.symbolic import sym
__getattr__ = lacking(__name__)
expander, pm_group_for_reduce = _builtin("expander"), _builtin("group_reduce")
