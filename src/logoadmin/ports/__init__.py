"""The needs of the core from outside, as Protocols; ``adapters`` has the implementations."""
