"""Sessions of people in browsers. The content is encrypted in a cookie, so no database is needed."""
