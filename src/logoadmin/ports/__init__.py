"""What the core needs from outside, as Protocols; ``adapters`` has the implementations."""
