"""`python -m reconverge.cli`."""

import sys

from reconverge.cli import main

if __name__ == "__main__":
    sys.exit(main())
