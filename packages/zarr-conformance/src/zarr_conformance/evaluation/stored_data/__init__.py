"""Judgement of written data by its bytes: strict readers that share no code with zarr-core."""
