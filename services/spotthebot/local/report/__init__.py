"""A campaign's report: a page for people, tables for programs and papers."""
