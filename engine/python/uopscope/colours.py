# Colours of families of operations, as in the window's dark theme (viz/scene/theme.cpp), for pages and notebooks.
#
#   colour_of(node)      # "#4b9fe0" for a LOAD
from tinygrad.uop import GroupOp, Ops

_COLOURS = {op: colour for colour, ops in {
  "#8b95a3": (Ops.CONST, Ops.VCONST, Ops.DEVICE, Ops.UNIQUE, Ops.LUNIQUE), "#d8bd45": (Ops.RANGE, Ops.SPECIAL, Ops.DEFINE_VAR, Ops.BIND),
  "#2fb58a": (Ops.BUFFER, Ops.BUFFERIZE, Ops.DEFINE_GLOBAL, Ops.DEFINE_LOCAL, Ops.DEFINE_REG), "#4b9fe0": (Ops.INDEX, Ops.LOAD, Ops.STORE, Ops.COPY, Ops.ASSIGN),
  "#e07a45": (Ops.REDUCE, Ops.REDUCE_AXIS, Ops.WMMA), "#7a889c": tuple(GroupOp.Movement)}.items() for op in ops}

def colour_of(node): return _COLOURS.get(node.op, "#9a8be0")
