"""The errors of exports.

Forbidden
└── NamesForAdministrators
"""

from spotthebot.kit.errors import Forbidden


class NamesForAdministrators(Forbidden):
    """Only administrators may export annotations with the ids of annotators: leave `annotators` out."""
