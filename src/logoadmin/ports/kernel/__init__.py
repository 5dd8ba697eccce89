"""The ports of the kernel: records and their history, time, randomness, encryption, metrics, outgoing requests."""
