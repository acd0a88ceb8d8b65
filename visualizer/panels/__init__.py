"""One file per panel: it watches fields of the state, draws through widgets, sends actions."""
