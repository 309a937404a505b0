# The rules of devectorize: vectors become the widths that the target loads, stores and computes with.
from _uopscope import builtin_matcher as _builtin
from uopscope.absent import lacking
__getattr__ = lacking(__name__)
devectorize, pm_add_loads, pm_reduce = _builtin("devectorize"), _builtin("add_loads"), _builtin("reduce")
load_store_folding = devectorize
