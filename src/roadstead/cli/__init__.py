"""The command line: one module a command, found by name in `main.COMMANDS`."""
