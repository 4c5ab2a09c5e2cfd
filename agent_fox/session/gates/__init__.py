"""What a coder's work is held to before it lands: policy, format, close-out, other specs' files."""
