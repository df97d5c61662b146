"""Tables of rows, and answers as JSON, CSV or Parquet."""
