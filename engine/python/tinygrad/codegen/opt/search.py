# Beam search for Opts. The engine has the search (runtime/search.h); this module has its parts for scripts.
#
#   bufs = bufs_from_ast(k.ast, "CPU"); best = beam_search(k, bufs, 4)
import itertools
import _uopscope
from tinygrad.codegen.opt import KernelOptError, Opt, OptOps
from tinygrad.codegen.opt.postrange import Scheduler, bufs_from_ast
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

_AXES, _GROUPED = 8, (2, 3, 4, 5, 7, 8, 13, 16, 29, 32)
actions = [Opt(op, axis, amount) for op, axes, amounts in (
  (OptOps.UPCAST, _AXES, (0, 2, 3, 4, 5, 7)), (OptOps.UNROLL, 5, (0, 4, 7)), (OptOps.LOCAL, 6, _GROUPED), (OptOps.GROUPTOP, 3, (13, 16, 28, 29, 32, 49, 64, 256)),
  (OptOps.GROUP, 3, (0, 4, 8, 16)), (OptOps.THREAD, 3, (2, 3, 4, 5, 8, 12, 16, 24, 32, 64))) for axis, amount in itertools.product(range(axes), amounts)]
actions += [Opt(OptOps.SWAP, axis, other) for axis in range(5) for other in range(axis + 1, 5)] + [Opt(OptOps.NOLOCALS)]

def get_kernel_actions(s, include_0=True, max_up=256):
  """{number: the Scheduler after one more Opt} for all Opts that fit; number 0 is the unchanged Scheduler."""
  found = {0: s.copy()} if include_0 else {}
  for number, opt in enumerate(actions, 1):
    if opt.axis is not None and opt.axis >= s.shape_len: continue
    tried = s.copy()
    try: tried.apply_opt(opt)
    except KernelOptError: continue
    if tried.upcast_size() <= (max_up or 256): found[number] = tried
  return found

def bufs_from_lin(lin, allocate=True):
  bufs = bufs_from_ast(lin.ast, lin.ren.device)
  return [b.ensure_allocated() for b in bufs] if allocate else bufs
def _ensure_buffer_alloc(bufs): return [b.ensure_allocated() for b in bufs]

def beam_search(s, rawbufs, amt, allow_test_size=True, disable_cache=False):
  """A copy of the Scheduler with the Opts of the fastest kernel found by a search of width `amt`."""
  from tinygrad.helpers import Context
  with Context(IGNORE_BEAM_CACHE=int(disable_cache)): best = _uopscope.search_opts(s.ast, s.ren.device, amt)
  return s.copy().apply_opts(best)
