"""Run ``python -m benchmarks.attack``."""

import sys

from benchmarks.attack.run import main

sys.exit(main())
