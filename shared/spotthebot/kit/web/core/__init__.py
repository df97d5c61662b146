"""What every web application has, be it an API or pages; it needs neither a database nor API keys."""
