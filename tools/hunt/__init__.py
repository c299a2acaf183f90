"""The hunt: odd tables, damaged files, failing and killed system calls, and an oracle with no code of sfumato."""
