# The last passes of lowering, under the reference's module names.
