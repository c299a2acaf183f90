"""The differentially private mixture: noise and accounting, statistics of bounded sensitivity, and the model."""
