"""What differs between two output trees, object by object, and what each difference risks. Pure."""
