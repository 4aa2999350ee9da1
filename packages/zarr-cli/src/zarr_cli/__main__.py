"""The same command as ``python -m zarr_cli``."""

from zarr_cli.main import main

if __name__ == "__main__":
    main()
