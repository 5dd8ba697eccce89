"""The doors: they translate, call and translate back, and decide nothing."""
