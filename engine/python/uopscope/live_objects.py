# gc.get_objects() with the tensors and buffers that are alive. They are objects of C++, of which Python has handles only while
# a script holds them, so the interpreter's own list lacks the tensors that others hold (gradients, random streams) and the
# memory that nodes hold. Nothing is done before a script asks for the list.
#
#   [x for x in gc.get_objects() if isinstance(x, Tensor)]
import functools, gc
from _uopscope import live_objects

def install():
  """Makes gc.get_objects list them; a second call does nothing."""
  listed = gc.get_objects
  if hasattr(listed, "_without_tensors"): return
  @functools.wraps(listed)
  def get_objects(generation=None):
    found = listed(generation)
    if generation is not None: return found  # they belong to no generation
    alive = live_objects()
    known = {id(x) for x in alive}
    return [x for x in found if id(x) not in known] + alive
  get_objects._without_tensors = listed
  gc.get_objects = get_objects
