"""The engine: plans a model in Python and runs it in C++, behind provider-neutral interfaces."""
