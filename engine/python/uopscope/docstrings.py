# The texts of engine/docs for classes that Python defines. Classes bound from C++ have theirs already (docstrings.cpp).
#
#   document(TinyJit)              help(TinyJit.reset) then shows the text of "reset" in engine/docs/TinyJit.txt
from _uopscope import docstring, documented_members

def document(cls, name=None):
  """Gives the class and those of its members that have no docstring of their own their texts, by the name of the class."""
  name = name or cls.__name__
  if text := docstring(name, name): cls.__doc__ = text
  for member in documented_members(name):
    value = cls.__dict__.get(member)
    function = getattr(value, "__func__", value)
    if isinstance(value, property): setattr(cls, member, property(value.fget, value.fset, value.fdel, docstring(name, member)))
    elif callable(function) and not getattr(function, "__doc__", None) and hasattr(function, "__dict__"): function.__doc__ = docstring(name, member)
