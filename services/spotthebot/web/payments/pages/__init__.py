"""The pages with payments: of a campaign's annotators, and of people who chat."""
