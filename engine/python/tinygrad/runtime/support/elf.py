# Object files, from uopscope.elf.
from uopscope.absent import lacking
from uopscope.elf import ElfSection, elf_loader, jit_loader
__getattr__ = lacking(__name__)
