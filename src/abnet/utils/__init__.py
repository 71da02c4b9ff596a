"""What several rooms share, one small file each."""
