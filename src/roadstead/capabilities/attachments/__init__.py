"""An external address for one Service of one application. Source: endpoint-attachments."""
