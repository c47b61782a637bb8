"""Section 4 of the paper, run again: settings, the runs of one machine or a cluster, tables and figures from the lines.

Every finished run is one line of JSON; tables and figures are made from the lines alone.
"""
