"""HTTP, the console, the server and the command line."""
