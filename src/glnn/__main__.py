"""`python -m glnn` is the command `glnn`: for where scripts are not on the path."""

from glnn.cli import main

if __name__ == "__main__":
    main()
