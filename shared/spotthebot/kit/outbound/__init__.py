"""HTTP to servers of other people. Their URLs and answers are treated as hostile.

Each address is checked, and the connection is made to exactly the checked address. Redirects are not followed. Sizes
and times are limited. No state, such as a cookie, is kept from one request to the next.
"""
