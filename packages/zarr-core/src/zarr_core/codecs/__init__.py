"""The codec of the core specification, ``bytes``."""
