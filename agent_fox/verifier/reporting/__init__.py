"""Results for people, programs and models: documents, projections, reports, comparisons."""
