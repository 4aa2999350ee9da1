"""The codecs that the core of the specification cannot do without."""
