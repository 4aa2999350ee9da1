"""A demonstration on real data: ``python -m demo``, or ``make demo`` with its set-up."""
