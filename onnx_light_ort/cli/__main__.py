"""``python -m onnx_light_ort.cli``."""

import sys

from onnx_light_ort.cli import main

sys.exit(main())
