// Here so that the compiler takes a function without a body; go:linkname names its place.
