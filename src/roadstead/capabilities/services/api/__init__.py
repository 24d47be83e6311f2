"""What others may know of the services: the typed model, the schema's fields, the findings."""
