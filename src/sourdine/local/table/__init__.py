"""Tables: a schema of columns, and records that are randomised before anybody sees them.

================  ==================================================================================
``answered``      estimates among those who answered, where answers may be absent
``blocks``        records to reports block by block, and reports to frames and files
``columns``       the columns of a schema: `Flag`, `Choice`, `Choices` and `Number`
``counting``      a sanitised table back to tallies: all that estimates need
``crossed``       two columns crossed: joint shares, and shares within rows
``estimates``     `Estimates`: what a sanitised table, or reports, say about all people
``figures``       charts of estimates: a panel for each column, and crossed columns
``part``          one column with its share of epsilon: absence, reports, and how they are written
``sanitize``      `sanitize`: a frame to a frame, a file to a file, by several processes
``schema``        `Schema`: a table whose every record is randomised on its own
``schema_files``  schemas in TOML and JSON files
================  ==================================================================================
"""
