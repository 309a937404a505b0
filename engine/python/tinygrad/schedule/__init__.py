# From tensor graphs to kernels, by the reference's modules. The engine's passes are in C++ (engine/schedule).
