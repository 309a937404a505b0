# Reads pickles without running their code. Python's own unpickler imports modules and calls functions that a file names.
# This reader knows a table of names and builds inert values for all other names, so the worst that a hostile file can do is
# fail to load.
#
#   reader = PickleReader({("collections", "OrderedDict"): dict}, persistent=lambda key: ...)
#   value = reader.load(cursor)
#
# `calls` maps (module, name) to a function of plain values, `constants` to values. Any other name becomes an Opaque.
import io, pickletools

class Opaque:
  """A class or object that the file names and the table lacks: its name and its arguments."""
  def __init__(self, module, name, args=()): self.module, self.name, self.args, self.state, self.items = module, name, args, None, []
  def __repr__(self): return f"<{self.module}.{self.name}, not loaded>"
  def __call__(self, *args): return Opaque(self.module, self.name, args)

class _Global:
  """A name of the table. It hides the function behind it, so that nothing in a file can change that function."""
  def __init__(self, f): self._f = f
  def __call__(self, *args): return self._f(*args)

_MARK = object()

class PickleReader:
  def __init__(self, calls, constants={}, persistent=lambda key: key): self.calls, self.constants, self.persistent = calls, constants, persistent

  def load(self, cursor):
    """One pickle; the cursor is behind it afterwards."""
    stream = io.BytesIO(bytes(cursor.data[cursor.position:]))
    try: value = self._run(stream)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, UnicodeError, RecursionError) as e:
      raise ValueError(f"{cursor.name}: damaged pickle, or one that needs code to run: {type(e).__name__}: {e}") from None
    cursor.position += stream.tell()
    return value

  def _named(self, module, name):
    if (module, name) in self.constants: return self.constants[module, name]
    return _Global(self.calls[module, name]) if (module, name) in self.calls else Opaque(module, name)

  def _run(self, stream):
    stack, memo = [], {}
    def to_mark():
      at = len(stack) - 1
      while stack[at] is not _MARK: at -= 1
      items = stack[at + 1:]
      del stack[at:]
      return items
    def call(f, args):
      if not isinstance(f, (_Global, Opaque)): raise ValueError(f"it calls {type(f).__name__}")
      stack.append(f(*args))
    def pairs(items): return zip(items[::2], items[1::2])
    def extend(target, items):
      if isinstance(target, Opaque): target = target.items
      if not isinstance(target, list): raise ValueError(f"it appends to {type(target).__name__}")
      target.extend(items)
    def fill(target, items):
      if isinstance(target, Opaque): target.items.extend(pairs(items))
      elif isinstance(target, dict): target.update(pairs(items))
      else: raise ValueError(f"it sets items of {type(target).__name__}")
    constants = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
    made = {"EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_TUPLE": tuple, "EMPTY_SET": set}
    for op, arg, _ in pickletools.genops(stream):
      name = op.name
      if name in ("PROTO", "FRAME"): pass
      elif name == "STOP": return stack.pop()
      elif name == "MARK": stack.append(_MARK)
      elif name == "POP": stack.pop()
      elif name == "POP_MARK": to_mark()
      elif name == "DUP": stack.append(stack[-1])
      elif name in constants: stack.append(constants[name])
      elif name in made: stack.append(made[name]())
      elif name in ("PUT", "BINPUT", "LONG_BINPUT"): memo[arg] = stack[-1]
      elif name == "MEMOIZE": memo[len(memo)] = stack[-1]
      elif name in ("GET", "BINGET", "LONG_BINGET"): stack.append(memo[arg])
      elif name == "TUPLE": stack.append(tuple(to_mark()))
      elif name in ("TUPLE1", "TUPLE2", "TUPLE3"):
        n = int(name[-1])
        stack[-n:] = [tuple(stack[-n:])]
      elif name == "LIST": stack.append(to_mark())
      elif name == "DICT": stack.append(dict(pairs(to_mark())))
      elif name == "FROZENSET": stack.append(frozenset(to_mark()))
      elif name == "APPEND":
        item = stack.pop()
        extend(stack[-1], [item])
      elif name == "APPENDS":
        items = to_mark()
        extend(stack[-1], items)
      elif name == "SETITEM":
        item = stack[-2:]
        del stack[-2:]
        fill(stack[-1], item)
      elif name == "SETITEMS":
        items = to_mark()
        fill(stack[-1], items)
      elif name == "ADDITEMS":
        items = to_mark()
        stack[-1].update(items) if isinstance(stack[-1], set) else stack[-1].items.extend(items)
      elif name == "GLOBAL": stack.append(self._named(*arg.split(" ", 1)))
      elif name == "STACK_GLOBAL":
        module, what = stack[-2:]
        stack[-2:] = [self._named(module, what)]
      elif name in ("REDUCE", "NEWOBJ"):
        args = stack.pop()
        call(stack.pop(), args)
      elif name == "NEWOBJ_EX":
        stack.pop()
        args = stack.pop()
        call(stack.pop(), args)
      elif name == "OBJ":
        cls, *args = to_mark()
        call(cls, args)
      elif name == "INST": call(self._named(*arg.split(" ", 1)), to_mark())
      elif name == "BUILD":
        state = stack.pop()
        if hasattr(stack[-1], "built"): stack[-1] = stack[-1].built(state)
        elif isinstance(stack[-1], Opaque): stack[-1].state = state
      elif name == "PERSID": stack.append(self.persistent(arg))
      elif name == "BINPERSID": stack.append(self.persistent(stack.pop()))
      elif op.stack_before == [] and len(op.stack_after) == 1: stack.append(arg) # numbers, strings, bytes
      else: raise ValueError(f"it uses {name}")
    raise ValueError("it has no end")
