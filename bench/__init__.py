"""The benchmarks: `make bench` runs every suite, `make bench-app` one."""
