// Stitching
