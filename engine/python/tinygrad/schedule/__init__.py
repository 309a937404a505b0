# From tensor graphs to kernels, under the reference's module names. The engine's passes are in C++ (engine/schedule).
