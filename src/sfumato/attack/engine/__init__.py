"""What all attacks share: referee, judge, knowledge, scores."""
