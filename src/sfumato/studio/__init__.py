"""The studio: a local web page where a person protects a table and sees what it does.

`server` starts it, `security` lets only its own browser in, `app` holds the routes, `session` what is loaded,
`preview` what a slider shows, `jobs` the release in the background. The page itself is in `static`.
"""
