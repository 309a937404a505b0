# The engine's rule sets.
from _uopscope import builtin_matcher as _builtin
symbolic_simple, symbolic, sym = _builtin("symbolic_simple"), _builtin("symbolic"), _builtin("sym")
