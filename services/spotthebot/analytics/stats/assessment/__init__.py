"""Assesses which measures of dialogues deserve trust, as ABC-Eval does (Finch, Finch & Choi 2023, section 7)."""
