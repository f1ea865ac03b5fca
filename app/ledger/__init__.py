"""The ledger: double entry that only grows. Owns accounts, entries, postings, balances and months; commits nothing."""
