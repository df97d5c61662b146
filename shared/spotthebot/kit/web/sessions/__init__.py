"""Sessions of people in browsers: what a session holds lies sealed in a cookie, so that no database is needed."""
