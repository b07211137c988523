r"""What a shuffler adds: reports that nobody can assign to people.

A report of :math:`\varepsilon_0` local privacy, mixed with those of :math:`n - 1` others, says far
less of one person: the loss falls as :math:`1/\sqrt n`.

The promise is of another kind than a report's own. It holds against those who see the shuffled
reports *only*, and only if the shuffler really strips names, addresses, order, times and batch
borders, colludes with nobody, and as many people as stated report honestly and once. Whoever sees
the reports before the shuffler is held off by :math:`\varepsilon_0` alone.
"""

from sourdine.local.shuffling.amplified import shuffled, shuffled_allowance

__all__ = ["shuffled", "shuffled_allowance"]
