"""The wire: one frozen type per method, envelopes, the strict codec and the error table."""
