"""Generator of everything that follows from the ORT C ABI: pinned headers in, header, tables and matrix out."""
