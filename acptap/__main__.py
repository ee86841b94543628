"""`python -m acptap` is the `acptap` command."""

from acptap.cli import main

if __name__ == "__main__":
    main()
