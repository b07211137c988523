r"""Local privacy on a cluster: records randomised where they are, reports added up where they lie.

==============  ====================================================================================
``counting``    tallies of sanitised tables, of reports and of densities, from Spark frames
``sanitizing``  a Spark frame to a folder of sanitised Parquet files
``tasks``       what Spark tasks do: pack numbers, place rows, draw reports, add up
==============  ====================================================================================

Spark repeats tasks: where one failed, where one is slow, where a frame is read again. With bytes of
the system each run would draw anew, and somebody who sees two runs has two reports of each person.

*Claim*: a block of records has one draw, however often it is randomised. Its bytes are a
pseudorandom function (`sourdine.noise.source`) of the partition, of the number of the block and of
all that stands in it, under a key that is drawn for this one call. The same block gives the same
reports; a block with other contents has bytes of its own, so that no two inputs ever meet the same
bytes, whose reports together would tell more. *Checked by* ``tests_spark/test_local_once.py``.

*Claim*: a record is in one block, whichever task runs again, if the frame has the same rows each
time they are computed. Rows come in one order from scans of files; after a shuffle they may not,
and are sorted by what they hold before they are cut into blocks. What they hold are their slots,
which Spark finds where its expressions can: rows with the same slots are the same to whoever draws,
and whichever comes first has the same report. Reports then leave in an order of random numbers,
drawn with them: neither the order nor the partition of a row tells what it held.

*Claim*: what is written holds one report of each record. Files of a task appear when the whole job
is committed, those of other attempts never.

*Guarantee*. Let :math:`M` be the randomiser of the schema, :math:`\varepsilon`-LDP under uniform
bytes. Under the key's bytes the reports of a record :math:`x` and those of :math:`x'` satisfy for
every test :math:`T` of bounded time
:math:`P(T(M(x)) = 1) \le e^{\varepsilon} P(T(M(x')) = 1) + (1 + e^{\varepsilon})\,\alpha`, with
:math:`\alpha` the advantage of telling the bytes from uniform ones. *Proof*: replace the bytes in
both worlds by uniform ones; each replacement costs :math:`\alpha`, since all blocks are told
different :math:`m`, and the inequality holds between them. It is about those without the key.

*Where the key is*. In the memory of the driver and, inside the pickled function, of Spark's JVM and
of the executors, for which Spark may keep it in its temporary folder while the job runs, and, if
the function takes more than a megabyte, until the session ends; on the wire between them, in the
clear unless Spark encrypts it. In no text of a plan, no event, no log, no file that is written.
*Checked by* ``tests_spark/test_local_key.py``.
"""
