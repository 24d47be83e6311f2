"""Trust anchors: one key-free `<release>.tenant-ca` for each application release."""
