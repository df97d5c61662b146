"""Triggers of append-only tables. An update may only replace words of erased persons by `erased`."""

from alembic import op


def create_triggers() -> None:
    """Create the functions, and the triggers that call them."""
    op.execute(
        """
        CREATE FUNCTION annotation.refuse_change_but_erasure() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'UPDATE'
                AND to_jsonb(NEW) - 'details' = to_jsonb(OLD) - 'details'
                AND ARRAY(SELECT jsonb_object_keys(NEW.details)) = ARRAY(SELECT jsonb_object_keys(OLD.details))
                AND NOT EXISTS (
                    SELECT FROM jsonb_each(NEW.details) AS after
                    WHERE after.value <> OLD.details -> after.key AND after.value <> '"erased"'::jsonb
                )
            THEN
                RETURN NEW;
            END IF;
            RAISE EXCEPTION 'rows of % are only ever added', TG_TABLE_NAME;
        END $$
        """
    )
    op.execute(
        """
        CREATE FUNCTION annotation.is_erasure(before jsonb, after jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
            SELECT ARRAY(SELECT jsonb_object_keys(after) AS key ORDER BY key)
                    = ARRAY(SELECT jsonb_object_keys(before) AS key ORDER BY key)
                AND NOT EXISTS (
                    SELECT FROM jsonb_each(after) AS one
                    WHERE one.value <> before -> one.key
                        AND NOT (jsonb_typeof(before -> one.key) = 'string' AND one.value = '"erased"'::jsonb)
                )
        $$
        """
    )
    # A question per unit has its value here; a question per side or turn has an object of values.
    op.execute(
        """
        CREATE FUNCTION annotation.refuse_change_but_erased_texts() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF to_jsonb(NEW) - 'answer' = to_jsonb(OLD) - 'answer'
                    AND ARRAY(SELECT jsonb_object_keys(NEW.answer) AS key ORDER BY key)
                        = ARRAY(SELECT jsonb_object_keys(OLD.answer) AS key ORDER BY key)
                    AND NOT EXISTS (
                        SELECT FROM jsonb_each(NEW.answer) AS one
                        WHERE one.value <> OLD.answer -> one.key
                            AND NOT CASE jsonb_typeof(one.value)
                                WHEN 'object' THEN jsonb_typeof(OLD.answer -> one.key) = 'object'
                                    AND annotation.is_erasure(OLD.answer -> one.key, one.value)
                                ELSE jsonb_typeof(OLD.answer -> one.key) = 'string' AND one.value = '"erased"'::jsonb
                            END
                    )
                THEN
                    RETURN NEW;
                END IF;
            END IF;
            RAISE EXCEPTION 'rows of % are only ever added', TG_TABLE_NAME;
        END $$
        """
    )
    for table, function in (
        ("audit_log", "refuse_change_but_erasure"),
        ("answer_revisions", "refuse_change_but_erased_texts"),
        ("training_answers", "refuse_change_but_erased_texts"),
    ):
        op.execute(
            f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON annotation.{table}"
            f" FOR EACH ROW EXECUTE FUNCTION annotation.{function}()"
        )
