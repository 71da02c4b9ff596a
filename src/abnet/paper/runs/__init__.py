"""One run of the protocol and many: its setting, key and result, its training, the store, and sweeps over settings."""
