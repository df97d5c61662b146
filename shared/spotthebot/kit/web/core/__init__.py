"""The core of every web application, whether it has an API or pages. It needs neither a database nor API keys."""
