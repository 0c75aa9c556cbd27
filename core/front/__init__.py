"""Front ends: the Hook API and the command line. They ask, wait for outcomes, and decide nothing."""
