# Programs: tinygrad.apps.llm runs language models.
from uopscope.absent import lacking
__getattr__ = lacking(__name__)
