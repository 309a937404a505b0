# Rules on ranges and their bounds: joining, splitting, and collapsing reductions that only count.
from _uopscope import builtin_matcher as _builtin
from uopscope.absent import lacking
__getattr__ = lacking(__name__)
pm_flatten_range, pm_split_ranges, pm_simplify_ranges, pm_load_collapse = map(_builtin, ("flatten_range", "split_ranges", "simplify_ranges", "load_collapse"))
