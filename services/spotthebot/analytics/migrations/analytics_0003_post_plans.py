"""Plans have a significance level of their own and say how many annotators; those of before say neither."""

from alembic import op

revision = "analytics_0003"
down_revision = "analytics_0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        UPDATE analytics.step_jobs
        SET request = request - 'confidence_level' - 'seed'
            || jsonb_build_object('significance_level', 1 - (request->>'confidence_level')::numeric)
        WHERE kind = 'planning' AND request ? 'confidence_level'
        """
    )
    op.execute(
        """
        UPDATE analytics.step_jobs
        SET request = request - 'resamples' - 'seed'
            || jsonb_build_object('significance_level', 1 - (request->>'confidence_level')::numeric)
        WHERE kind = 'more_data' AND request ? 'resamples'
        """
    )
    # Step results hold the same plan as the result, under which they are assembled.
    for table, condition in (
        ("step_jobs", "kind IN ('planning', 'more_data')"),
        (
            "step_job_results",
            "job_id IN (SELECT id FROM analytics.step_jobs WHERE kind IN ('planning', 'more_data'))",
        ),
    ):
        op.execute(
            f"""
            UPDATE analytics.{table}
            SET result = result || jsonb_build_object(
                'annotator_correlation', 0,
                'annotations_per_annotator', NULL,
                'annotators_per_game', 1,
                'significance_level', 1 - (result->>'confidence_level')::numeric,
                'annotators', NULL,
                'pairs', (
                    SELECT jsonb_agg(
                        pair || jsonb_build_object('annotators', NULL, 'design_effect', NULL) ORDER BY place
                    )
                    FROM jsonb_array_elements(result->'pairs') WITH ORDINALITY AS listed (pair, place)
                )
            )
            WHERE {condition} AND result ? 'pairs' AND NOT result ? 'significance_level'
            """  # noqa: S608 - names of our own
        )
