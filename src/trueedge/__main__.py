"""``python -m trueedge``."""

from trueedge.cli import main

if __name__ == "__main__":
    main()
