"""What a release is made of: image, archives, bill of materials, notes. Nothing of it ships."""
