"""How well a judge's corrections hold: coverage, errors, widths, false ranks and labels saved, beside other tools."""
