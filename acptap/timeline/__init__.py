"""Floor 3: a cassette as rows for people. Pure: how they are drawn is the edge's business."""
