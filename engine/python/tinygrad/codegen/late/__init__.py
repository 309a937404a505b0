# The last passes of lowering, by the reference's modules.
