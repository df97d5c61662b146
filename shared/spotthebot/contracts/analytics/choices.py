"""The values of choices that results depend on.

They are plain words, so that the command line starts without models.
"""

from typing import Literal

Filter = Literal["complete_packages", "none"]
Unit = Literal["annotation", "segment", "conversation"]
Weighting = Literal["exchanges", "log_exchanges", "log_turns"]
Correction = Literal["holm", "bonferroni", "none"]
Clusters = Literal["both", "conversation", "annotator", "fixed_panel", "none"]
Test = Literal["clustered", "sign", "chi_square", "score"]
PooledResult = Literal["agreement", "fooling-rates", "win-rates", "measures", "ranking", "survival"]
RankRule = Literal["published", "percentile"]
MixedModelKind = Literal["linear", "cumulative_link"]
