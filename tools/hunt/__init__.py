"""The hunt: odd tables, damaged files, failing system calls and allocations, and an oracle with no code of sfumato."""
