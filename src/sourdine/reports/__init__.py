"""What is filed: a report of everything released, and an entry for the registry of deployments.

==============  ====================================================================================
``about``       what only the owner of the data knows, in the terms of the public registry
``deployment``  an entry for the registry of deployments, filled from a report
``report``      `FiledReport`: everything that was released under a ledger, checked
``sections``    the sentences and sections of a report, under the headings of NIST SP 800-226
==============  ====================================================================================
"""
