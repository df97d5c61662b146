"""The errors of the statistics: inputs that contradict themselves and settings outside their range."""

from spotthebot.kit.errors import Invalid


class AnnotationTableMalformed(Invalid):
    """The annotation table is malformed: {fault}."""

    title = "Malformed annotation table"


class CriterionUnknown(Invalid):
    """'{criterion}' is not a criterion of these annotations: there are {known}."""

    title = "Unknown criterion"


class IntervalsMalformed(Invalid):
    """The censored times are malformed: {fault}."""

    title = "Malformed censored times"


class FitFailed(Invalid):
    """{what} cannot be fitted: {why}. Look for times that are all alike, or take a nonparametric estimate."""

    title = "Fit failed"
