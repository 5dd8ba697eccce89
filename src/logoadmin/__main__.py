"""``python -m logoadmin`` is ``logoadmin``."""

from logoadmin.entrypoints.cli import main

if __name__ == "__main__":
    main()
