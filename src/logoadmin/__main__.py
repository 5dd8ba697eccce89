"""Makes ``python -m logoadmin`` the command ``logoadmin``."""

from logoadmin.entrypoints.cli import main

if __name__ == "__main__":
    main()
