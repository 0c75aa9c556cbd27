"""Scripts that a maintainer or the Makefile runs: set-up, fonts, the codemap."""
