"""Reading logs and reports of build tools, one file a format. Nothing here runs a tool or decides a status."""
