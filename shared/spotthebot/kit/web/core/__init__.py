"""The core of every web application, an API or pages; it needs neither a database nor API keys."""
