"""A frontend in a few lines: claims a package of a campaign of Spot The Bot, answers every item, submits.

python annotate.py http://127.0.0.1:8103 KEY_OF_THE_ROLE_ANNOTATION CAMPAIGN_ID p-17
"""

import sys
from uuid import UUID

from spotthebot.clients import Annotation, Conflict, Invalid, PeerRefused
from spotthebot.contracts.annotation.assignments import AnswerIn, ClaimIn, HeartbeatIn


def main(address: str, key: str, campaign: str, annotator: str) -> None:
    """Say of every bot that it is hard to tell."""
    with Annotation(address, key) as annotation:
        try:
            package = annotation.claim_package(UUID(campaign), ClaimIn(annotator=annotator))
        except Conflict as refused:
            sys.exit(refused.problem.detail)  # why there is no package
        except Invalid as refused:
            sys.exit(f"{refused.problem.detail} {refused.problem.errors}")  # such as an id that the panel can't have
        except PeerRefused as refused:
            sys.exit(f"{refused.problem.status}: {refused.problem.detail}")  # such as a key of another role
        labels = {"A": "unsure", "B": "unsure"}
        better = {"fluency": "tie", "sensibleness": "tie", "specificity": "tie"}
        for item in package.items:
            for turn in item.turns:
                print(f"{turn.speaker}: {turn.text}")  # what a person reads
            if item.step == 1:  # not locked by an earlier run: until show_step, an answer can be corrected
                slip = AnswerIn(answer={"entity": {"A": "bot", "B": "unsure"}})
                annotation.save_answer(package.id, item.position, slip)
            annotation.keep_assignment(package.id, HeartbeatIn(position=item.position))  # a person took their time
            locking = AnswerIn(answer={"entity": labels}, show_step=2)  # locks the labels, and shows the next questions
            annotation.save_answer(package.id, item.position, locking)
            annotation.save_answer(package.id, item.position, AnswerIn(answer={"entity": labels, **better}))
        submitted = annotation.submit_assignment(package.id)
        print(f"{len(package.items)} items, completion code {submitted.completion_code}")


if __name__ == "__main__":
    main(*sys.argv[1:])
