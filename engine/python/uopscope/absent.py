# Names of the reference that have no meaning here, each with its reason. They can be imported, since programs import more
# than they use. A call or an attribute of such a name raises its reason. The import of any other missing name is an
# ImportError that says so.
#
#   from tinygrad.runtime.ops_amd import AMDDevice     # fine
#   AMDDevice("AMD")                                   # NotImplementedError: tinygrad.runtime.ops_amd.AMDDevice is not in uopscope: ...
import importlib.util, opcode, sys, types

_AMD, _NV = "HIP's library is called from C++, not from Python", "NVIDIA's hardware is reached through CUDA alone"
_METAL, _QCOM, _HIP = "there is no METAL device", "there is no QCOM device", _AMD
_DRIVER = "devices are driven through their vendors' libraries, never by registers and queues from Python"
_PAGES = "memory is managed by the operating system and the vendors' libraries"
_PYTHON_RULES = "patterns are matched by compiled C++: no Python is generated for them"
_SCHEDULE = "kernels are made of tensor graphs by passes in C++ (engine/schedule)"

# module -> reason, for modules that are missing as a whole
MODULES = {
  "tinygrad.runtime.ops_amd": _AMD, "tinygrad.runtime.ops_nv": _NV, "tinygrad.runtime.ops_metal": _METAL, "tinygrad.runtime.ops_qcom": _QCOM, "tinygrad.runtime.ops_hip": _HIP,
  "tinygrad.runtime.ops_dsp": "there is no DSP device", "tinygrad.runtime.ops_webgpu": "wgpu-native is called from C++, not from Python", "tinygrad.runtime.ops_rdma": _DRIVER,
  "tinygrad.runtime.ops_tinyfs": "there is no TINYFS device", "tinygrad.runtime.ops_remote": "there is no REMOTE device", "tinygrad.runtime.ops_null": "there is no NULL device",
  "tinygrad.runtime.ops_cl": "OpenCL's library is called from C++, not from Python", "tinygrad.runtime.ops_cuda": "CUDA's driver is called from C++, not from Python",
  "tinygrad.runtime.graph": "a captured function is replayed by C++", "tinygrad.runtime.graph.hcq": "a captured function is replayed by C++", "tinygrad.runtime.graph.cpu": "a captured function is replayed by C++",
  "tinygrad.runtime.graph.cuda": "a captured function is replayed by C++", "tinygrad.runtime.graph.metal": "a captured function is replayed by C++",
  "tinygrad.runtime.autogen": _DRIVER, "tinygrad.runtime.autogen.am": _AMD, "tinygrad.runtime.autogen.amd": _AMD, "tinygrad.runtime.autogen.nv_570": _NV, "tinygrad.runtime.autogen.nv": _NV, "tinygrad.runtime.autogen.libc": _DRIVER,
  "tinygrad.runtime.autogen.comgr": _AMD, "tinygrad.runtime.autogen.hsa": _AMD, "tinygrad.runtime.autogen.kfd": _AMD, "tinygrad.runtime.autogen.mesa": "no renderer uses Mesa", "tinygrad.runtime.autogen.llvm": "LLVM is called from C++, not from Python",
  "tinygrad.runtime.autogen.cuda": "CUDA's driver is called from C++, not from Python", "tinygrad.runtime.autogen.opencl": "OpenCL's library is called from C++, not from Python", "tinygrad.runtime.autogen.webgpu": "wgpu-native is called from C++, not from Python", "tinygrad.runtime.autogen.pci": _DRIVER,
  "tinygrad.runtime.support.am": _AMD, "tinygrad.runtime.support.am.amdev": _AMD, "tinygrad.runtime.support.am.ip": _AMD, "tinygrad.runtime.support.amd": _AMD, "tinygrad.runtime.support.nv": _NV,
  "tinygrad.runtime.support.nv.nvdev": _NV, "tinygrad.runtime.support.nv.ip": _NV, "tinygrad.runtime.support.usb": _DRIVER, "tinygrad.runtime.support.system": _DRIVER, "tinygrad.runtime.support.hcq": _DRIVER,
  "tinygrad.runtime.support.memory": _PAGES, "tinygrad.runtime.support.autogen": "no bindings of C libraries are generated",
  "tinygrad.runtime.support.objc": _METAL, "tinygrad.runtime.support.compiler_amd": _AMD, "tinygrad.runtime.support.compiler_mesa": "no renderer uses Mesa", "tinygrad.runtime.support.compiler_cuda": "NVRTC is called from C++, not from Python",
  "tinygrad.runtime.support.hip_comgr": _AMD, "tinygrad.runtime.support.compiler_hip": _AMD, "tinygrad.runtime.support.llvm": "LLVM is called from C++, not from Python",
  "tinygrad.renderer.ptx": "CUDA kernels are rendered as CUDA C", "tinygrad.renderer.nir": "no renderer uses Mesa", "tinygrad.renderer.amd": _AMD, "tinygrad.uop.upat": _PYTHON_RULES,
  "tinygrad.codegen.opt.kernel": "the reference itself replaced it by codegen.opt.postrange.Scheduler",
}

# module -> {name: reason}, for modules that exist here
NAMES = {
  "tinygrad.apps.llm": {"Handler": "the server is uopscope.chat: `python -m tinygrad.apps.llm --serve`"},
  "tinygrad.schedule.indexing": dict.fromkeys(("apply_movement_op", "_apply_reshape", "IndexingContext"), _SCHEDULE),
  "tinygrad.schedule.rangeify": dict.fromkeys(("Kernel", "RangeifyContext", "pm_rangeify", "get_rangeify_map"), _SCHEDULE),
  "tinygrad.runtime.support.c": dict.fromkeys(("DLL", "CEnum", "CStruct", "_IO", "_IOW", "_IOR", "_IOWR"), "no bindings of C libraries are generated"),
  "tinygrad.engine.realize": {"get_kernel": "the reference itself replaced it by codegen.get_program"},
}

class Absent:
  """Takes the place of a name of the reference; its use raises the reason. A class may derive from it, but not be
  instantiated."""
  def __init__(self, name, reason): self.__dict__.update(_name=name, _reason=reason, __name__=name.rsplit(".", 1)[1], __doc__=f"Not in uopscope: {reason}.")
  def __getattr__(self, attribute):
    if attribute.startswith("__"): raise AttributeError(attribute)
    raise NotImplementedError(f"{self._name} is not in uopscope: {self._reason}")
  def __call__(self, *_, **__): raise NotImplementedError(f"{self._name} is not in uopscope: {self._reason}")
  __getitem__ = __iter__ = __enter__ = __setattr__ = __call__
  def __mro_entries__(self, bases):
    name, reason = self._name, self._reason
    def refuse(cls, *_, **__): raise NotImplementedError(f"{name} is not in uopscope: {reason}")
    return (type("Absent", (), {"__new__": refuse}),)
  def __instancecheck__(self, _): return False
  __subclasscheck__ = __instancecheck__
  def __or__(self, other): return other
  __ror__ = __or__
  def __repr__(self): return f"<{self._name}: not in uopscope>"

def _is_import(frame):
  """Whether the frame executes `from module import name`."""
  code = frame.f_code.co_code
  return 0 <= frame.f_lasti < len(code) and code[frame.f_lasti] == opcode.opmap["IMPORT_FROM"]

def lacking(module):
  """The `__getattr__` of a module: returns the names of the tables above; for any other name an error says that uopscope
  lacks it."""
  def __getattr__(name, depth=1):
    reason = NAMES.get(module, {}).get(name) or (MODULES.get(module) if not name.startswith("__") else None)
    if reason: return Absent(f"{module}.{name}", reason)
    if f"{module}.{name}" in sys.modules: return sys.modules[f"{module}.{name}"]
    if _is_import(sys._getframe(depth)): raise ImportError(f"uopscope has no {module}.{name}", name=name, path=module)
    raise AttributeError(f"uopscope has no {module}.{name}")
  return __getattr__

class _Finder:
  """Makes the modules of the table when they are imported."""
  @staticmethod
  def find_spec(name, path=None, target=None):
    if name not in MODULES: return None
    return importlib.util.spec_from_loader(name, _Finder, origin="<uopscope>/uopscope/absent.py", is_package=True)
  @staticmethod
  def create_module(spec): return types.ModuleType(spec.name, f"Not in uopscope: {MODULES[spec.name]}.")
  @staticmethod
  def exec_module(module): module.__dict__["__getattr__"] = lacking(module.__name__)

if not any(getattr(f, "__module__", "") == __name__ for f in sys.meta_path): sys.meta_path.append(_Finder)
