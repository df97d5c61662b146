"""A protocol with one question about each speaker."""

document = {
    "format": 1,
    "name": "acme_scale",
    "version": 3,
    "title": "Would you talk again?",
    "source": "Acme 2026",
    "unit": {"kind": "dialogue"},
    "steps": [
        {
            "id": "rate",
            "title": "After the dialogue",
            "questions": [
                {
                    "id": "again",
                    "kind": "likert",
                    "per": "side",
                    "text": "How gladly would you talk to this speaker again?",
                    "scale": {"min": 1, "max": 3, "labels": {"1": "not at all", "2": "a little", "3": "gladly"}},
                }
            ],
        }
    ],
}
