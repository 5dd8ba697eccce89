"""Run the command ``logoadmin`` with ``python -m logoadmin``."""

from logoadmin.entrypoints.cli import main

if __name__ == "__main__":
    main()
