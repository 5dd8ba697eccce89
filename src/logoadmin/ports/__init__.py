"""What the core needs from outside, in the core's words. Each module is a socket; the plugs are in ``adapters``."""
