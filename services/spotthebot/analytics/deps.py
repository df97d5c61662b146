"""Dependencies of the endpoints of `analytics`: the caller, by role, and the parameters of results."""

from typing import Annotated

from fastapi import Depends, Query

from spotthebot.contracts.access import Role
from spotthebot.contracts.analytics.measures import CampaignMeasureIn, CampaignMeasuresIn, MeasureParametersIn
from spotthebot.contracts.analytics.provenance import ParametersIn
from spotthebot.contracts.analytics.workforces import AgreementParametersIn
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.database.claims import Claim
from spotthebot.kit.web.database.idempotency import asking_first

_analysts = allow(Role.ADMIN, Role.ANALYST)

Analyst = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.SERVICE))]
Start = Annotated[Claim, Depends(asking_first(_analysts), scope="function")]
"""The claim of an `Idempotency-Key` for an analysis: `annotation` is asked first, then the transaction begins."""
Canceller = Annotated[Principal, Depends(_analysts)]
RankReader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.ANNOTATION, Role.SERVICE))]
"""A caller who may see results that annotators may see."""
RequestParameters = Annotated[ParametersIn, Query()]
RequestMeasureParameters = Annotated[MeasureParametersIn, Query()]
RequestAgreementParameters = Annotated[AgreementParametersIn, Query()]
RequestCampaignMeasures = Annotated[CampaignMeasuresIn, Query()]
RequestCampaignMeasure = Annotated[CampaignMeasureIn, Query()]
