"""What is filed: a report of everything released, and an entry for the registry of deployments.

==============  ===================================================================================
``about``       what only the owner knows: purpose, contact, legal basis
``report``      the report: what was released, what it means, what was checked
``deployment``  the entry of the registry of deployments, filled from a report
``registry``    what the registry asks of an entry, and the check of one
==============  ===================================================================================
"""
