"""One command, guarded: started, limited, watched, kept, and summed up."""
