"""Results of campaigns and studies on the command line: rankings, measures and reports."""
