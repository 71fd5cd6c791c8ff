"""One contract for all three server classes, checked through real clients."""
