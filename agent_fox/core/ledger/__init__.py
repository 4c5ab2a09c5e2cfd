"""What is on record: records, gates, waivers, close-outs."""
