"""Append steps to the variables of a group while others read and append.

One value decides.  The consolidated metadata of the group contains the shapes of all arrays, so
replacing this one value gives all variables their new length at the same moment.  An append has
three steps, in this order:

1. The elements of the new steps are written, behind the committed length.  Readers do not see
   them.  Whole chunks are written, so nothing that an interrupted append left there remains.
2. The consolidated metadata are replaced by a conditional write.  This is the commit: it fails
   if the committed length is not the one that was read.
3. The documents of the arrays and of the groups above follow.  They are never longer than the
   committed length, and the next appender repairs them if they are shorter.

A process that is killed before step 2 has appended nothing, a process that is killed after it has
appended everything.  Chunks are never removed, because services cannot remove a value on a
condition.

Appenders take turns through a lock (``lock.py``): a value that its owner renews, and that others
take over when it is not renewed.  A slow former owner cannot write: each of its writes is
conditional, and verifies the lock between reading and replacing a value.  The next owner also
changes the consolidated metadata (white space at the end), so a commit that the former owner has
already begun fails.

The states, and what the next owner of the lock does:

- The lock is ``free``: nothing to repair.  It is ``held`` by an owner that is gone, or
  ``interrupted`` by one that failed after it began to write: the group is in one of the states below.
- No array has steps: the consolidated metadata gets the arrays that it does not contain, the others
  are created, and variables without the dimension are stored again.
- Elements behind the committed length: they are overwritten.
- Documents of arrays that are shorter than the committed length: they get this length.
- Any other difference between documents and consolidated metadata is an error: another program has
  changed them.

If the connection fails during step 2, the appender does not know whether it has committed.  It
remembers position and number of the steps, and the next attempt compares them with what is stored.

``appender.py`` has these steps, ``committed_lengths.py`` the commit, ``steps.py``, ``labels.py`` and
``buffer.py`` the data that is appended, ``series.py`` the creation of the arrays.
"""
