"""What people and other tools read: one small renderer per format."""
