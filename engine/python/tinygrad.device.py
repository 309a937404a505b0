# Devices by name.
import _uopscope
from _uopscope import Buffer

class _Opened:
  def __init__(self, name): self.device = name
  @property
  def renderer(self):
    from tinygrad.renderer import Renderer
    return Renderer(self.device)
  def synchronize(self): _uopscope.device_synchronize(self.device)
  def __repr__(self): return f"<Device {self.device}>"

class _Devices:
  @property
  def DEFAULT(self): return _uopscope.device_default()
  @DEFAULT.setter
  def DEFAULT(self, name): _uopscope.device_set_default(name)
  def canonicalize(self, name):
    if isinstance(name, (tuple, list)): return tuple(map(self.canonicalize, name))
    return _uopscope.device_canonicalize(name if name is not None else self.DEFAULT)
  def __getitem__(self, name): return _Opened(_uopscope.device_open(self.canonicalize(name)))
  def get_available_devices(self): return iter(_uopscope.device_available())
Device = _Devices()

def is_dtype_supported(dtype, device=None): return True
