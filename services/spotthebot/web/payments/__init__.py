"""Pages with the payments of annotators and of people who chat, and with files for panels."""
