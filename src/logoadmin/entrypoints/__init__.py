"""HTTP, the console, the server and the command line: they translate for the core, and decide nothing."""
