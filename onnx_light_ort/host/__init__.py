"""The Python half of the ORT compatibility host: plugin libraries, custom ops, execution providers."""
