"""Which libraries read a hierarchy, and what stops them.

``features`` lists the features of metadata documents, ``support`` looks them up in the measured
table ``support.json``, and ``report`` says what each library does with a hierarchy.
"""
