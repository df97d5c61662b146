"""A report: one page that needs nothing else, and the same tables for programs and papers."""

import csv
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from spotthebot.analytics.figures.catalogue import FIGURES
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain.analysis import analyse
from spotthebot.contracts.analytics.analyses import Stability
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.contracts.annotation.annotations import FEATURES, AnnotatorKind
from spotthebot.local.report.analysis_report import AnalysisReport
from spotthebot.local.report.annotators import annotator_codes, with_annotators
from spotthebot.local.report.drawings import draw_figure
from spotthebot.local.report.files import as_csv, write_report
from spotthebot.local.report.findings import findings
from spotthebot.local.report.latex import escape, latex_table
from spotthebot.local.report.markdown import markdown_report
from spotthebot.local.report.methods import methods
from spotthebot.local.report.pages import page
from spotthebot.local.report.table import Column, Table, interval, p_value
from spotthebot.local.report.tables import tables
from tests.factories.analyses import analysis, stability, study

HOSTILE = (
    r"_%&#$^~\{}",
    "[x] *",
    "*a--b|\"q\" 'x' `y` <z>",
    "中文 😀 ąđ é",
    "a name that goes on and on and on and on",
)
TEX = next(filter(None, map(shutil.which, ("pdflatex", "xelatex", "lualatex"))), None)


@pytest.fixture(scope="module")
def results():
    return analysis()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, results):
    """Write one report, which tests only read."""
    folder = tmp_path_factory.mktemp("written") / "report"
    write_report(AnalysisReport(results, stability()), folder)
    return folder


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.links, self.fetched, self.text, self.ids = [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name == "href":
                self.links.append((tag, value))
            if name in {"src", "srcset", "data", "action"}:
                self.fetched.append(value)

    def handle_data(self, data):
        self.text.append(data)


def _page(text):
    parsed = _Page()
    parsed.feed(text)
    return parsed


class TestPage:
    def test_needs_nothing_else(self, folder):
        written = _page((folder / "report.html").read_text())
        assert "script" not in written.tags
        assert written.fetched == []
        assert {tag for tag, _ in written.links} == {"a"}
        assert all(link.startswith(("#", "https://")) for _, link in written.links)
        assert "@import" not in (folder / "report.html").read_text()
        assert written.tags.count("svg") == 2 * 6  # for a page and for a phone
        assert len(written.ids) == len(set(written.ids)) > 6

    def test_every_table_has_a_caption_and_every_figure_words(self, folder):
        written = _page((folder / "report.html").read_text())
        assert written.tags.count("table") == written.tags.count("caption")
        assert written.tags.count("figure") == written.tags.count("figcaption") == 6

    def test_has_a_speaker_s_mark_before_its_name_in_every_table(self, folder, results):
        text = (folder / "report.html").read_text()
        marks = {"A": "D55E00", "B": "009E73", "C": "0072B2", "HU": "333333"}
        assert {each.name: each.colour.removeprefix("#") for each in results.speakers} == marks
        for name, colour in marks.items():
            mark = f'<span class="mark c{colour.lower()}" aria-hidden="true">●</span>'
            assert f">{mark}{name}</td>" in text
            assert not re.search(rf'class="name[^"]*">{name}</td>', text)
            assert f".c{colour.lower()} {{ color: #{colour}; }}" in text

    def test_says_under_each_figure_what_it_shows_and_what_it_does_not(self, folder):
        text = " ".join(_page((folder / "report.html").read_text()).text)
        for name in FIGURES:
            spec = json.loads((folder / "figures" / f"{name}.vl.json").read_text())
            assert spec["usermeta"]["caption"] in text
            assert re.search(r"\b(not|nothing|no)\b", spec["usermeta"]["caption"])

    def test_says_what_came_out_and_how(self, folder, results):
        text = " ".join(_page((folder / "report.html").read_text()).text)
        assert findings(results)[0] in text
        assert results.data_sha256 in text
        for sentence in methods(results, stability()).sentences:
            assert sentence in text

    def test_preliminary_and_simulated_results_are_called_so(self):
        changed = analysis(kind=AnnotatorKind.SIMULATED).model_copy(update={"preliminary": True})
        text = " ".join(_page(page(AnalysisReport(changed, None), {})).text)
        assert "Preliminary." in text
        assert "Simulated annotators." in text
        assert "programs, not people" in text

    def test_what_nobody_was_asked_is_left_out_and_said(self, results):
        whole = study()
        silent = [each._replace(leads=(0, 0, 0), elapsed_ms=None) for each in whole.annotations]
        labels = analyse(replace(whole, annotations=silent), Parameters(filter="none", resamples=20))
        missing = {table.key for table in tables(results)} - {table.key for table in tables(labels)}
        assert missing == {"features", *(f"features_{each}" for each in (*FEATURES, "ssa")), "cox", "time"}
        text = " ".join(_page(page(AnalysisReport(labels, None), {})).text)
        assert "No annotation prefers a side in fluency, sensibleness or specificity" in text
        assert "No times are known." in text
        assert "Cox models" not in " ".join(methods(labels, None).sentences)
        assert "Cox models" in " ".join(methods(results, None).sentences)

    def test_names_cannot_break_out(self):
        name = "<script>alert(1)</script>"
        written = _page(page(AnalysisReport(analysis((name, "B")), None), {}))
        assert "script" not in written.tags
        assert name in written.text

    def test_names_cannot_turn_what_stands_around_them(self):
        report = AnalysisReport(analysis(("a\u202egnp.exe", "\u05d0\u05d1", "C\u2069")), None)
        text = page(report, {"ranking": draw_figure("ranking", report.analysis, None)})
        assert re.search("[\u202a-\u202e]", text) is None
        sentences = " ".join(findings(analysis(("\u05d0\u05d1", "C\u2069"))))
        assert "\u2068\u05d0\u05d1\u2069" in sentences
        assert "C\u2069" not in sentences


class TestFiles:
    def test_the_same_results_give_the_same_bytes(self, folder, tmp_path, results):
        write_report(AnalysisReport(results, stability()), tmp_path)
        one, two = (
            {
                path.relative_to(each): b"" if path.suffix == ".pdf" else path.read_bytes()
                for path in each.rglob("*")
                if path.is_file()
            }
            for each in (folder, tmp_path)
        )
        assert one == two

    def test_every_figure_is_there_as_svg_pdf_and_specification(self, folder):
        names = {path.name for path in (folder / "figures").iterdir()}
        assert names == {f"{figure}{suffix}" for figure in FIGURES for suffix in (".svg", ".pdf", ".vl.json")}
        assert all(path.read_bytes().startswith(b"%PDF-") for path in (folder / "figures").glob("*.pdf"))

    def test_json_is_the_document_itself(self, folder, results):
        document = json.loads((folder / "report.json").read_text())
        assert Stability.model_validate(document.pop("stability")) == stability()
        codes = annotator_codes([each.annotator for each in results.annotators.annotators])
        assert Analysis.model_validate(document) == with_annotators(results, codes)

    def test_csv_reads_back_at_full_precision(self, folder, results):
        rows = list(csv.DictReader((folder / "csv" / "ranking.csv").read_text().splitlines()))
        assert [(row["bot"], float(row["win_rate"])) for row in rows] == [
            (bot.bot, bot.win_rate.estimate) for bot in results.ranking.bots
        ]
        assert {path.stem for path in (folder / "csv").iterdir()} == {table.key for table in tables(results)}

    def test_no_half_written_file_is_left(self, tmp_path, results):
        (tmp_path / "report.html").mkdir()  # so that the page cannot be put in its place
        with pytest.raises(OSError, match="report"):
            write_report(AnalysisReport(results, None), tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


class TestAnnotators:
    ANN, BEN, CLEO = "p-0123abcdefghijklmnopqrstuv", "p-0123abcefghijklmnopqrstuv0", "p-9vutsrqponmlkjihgfedcba987"

    def test_pseudonyms_become_their_shortest_beginnings_that_differ(self):
        assert annotator_codes([self.BEN, self.CLEO]) == {self.BEN: "p-0123", self.CLEO: "p-9vut"}
        # Ann's and Ben's are alike in eight characters behind `p-`, so nine of each are needed: `p-0123abcd`, ...
        assert annotator_codes([self.ANN, self.BEN, self.CLEO]) == {
            self.ANN: "p-0123abcd",
            self.BEN: "p-0123abce",
            self.CLEO: "p-9vutsrqp",
        }

    def test_published_names_become_numbers_and_programs_keep_theirs(self):
        codes = annotator_codes(["worker-b", "gpt", "worker-a"], ["gpt"])
        # sha256sum: worker-b 0482c4.., worker-a 6a65e2..: the order of names would tell who A1 is.
        assert codes == {"worker-b": "A1", "gpt": "gpt", "worker-a": "A2"}

    def test_no_file_of_a_report_names_an_annotator(self, folder):
        texts = [path.read_text() for path in folder.rglob("*") if path.is_file() and path.suffix != ".pdf"]
        assert len(texts) > 40
        assert not [text for text in texts if re.search(r"\bann\d", text)]
        named = list(csv.DictReader((folder / "csv" / "annotators.csv").read_text().splitlines()))
        assert [row["annotator"] for row in named] == ["A1", "A2", "A3", "A4", "A5"]

    def test_names_are_shown_where_they_are_asked_for(self, results):
        rows = {each.annotator: each for each in results.annotators.annotators}
        named = with_annotators(results, {"ann0": "Olga", "ann1": "Al"}).annotators.annotators
        assert [each.annotator for each in named] == ["Al", "Olga", "ann2", "ann3", "ann4"]
        assert named[1].n == rows["ann0"].n


class TestTables:
    def test_have_the_speakers_in_one_order_whatever_the_results_say(self, results):
        backwards = results.model_copy(update={"speakers": results.speakers[::-1]})
        places = [each.name for each in backwards.speakers]
        found = {table.key: [column.name for column in table.columns] for table in tables(backwards)}
        for table in tables(backwards):
            names = found[table.key]
            if "bot" in names:
                at = names.index("bot")
                for group in {row[:at] for row in table.rows}:
                    bots = [places.index(str(row[at])) for row in table.rows if row[:at] == group]
                    assert bots == sorted(bots), table.key
        (ranking,) = (table for table in tables(backwards) if table.key == "ranking")
        assert [row[0] for row in ranking.rows] == places[1:]


class TestCsv:
    @pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@cmd"])
    def test_what_a_spreadsheet_would_run_is_quoted(self, name):
        table = Table("t", "", "", (Column("bot", "Bot"), Column("n", "n")), ((name, -3),))
        assert list(csv.reader(as_csv(table).splitlines()))[1] == [f"'{name}", "-3"]


class TestLatex:
    def test_special_characters_are_escaped(self):
        assert escape(r"a_b & 5% {x} \y $ # ~ ^ <>") == (
            r"a\_b \& 5\% \{x\} \textbackslash{}y \$ \# \textasciitilde{} \textasciicircum{} \textless{}\textgreater{}"
        )

    def test_a_name_is_no_argument_of_the_line_before_it_and_has_no_ligatures(self):
        assert escape("*[5cm]---") == r"{*}{[}5cm]-\kern0pt{}-\kern0pt{}-"

    def test_numbers_stand_in_columns_of_their_format_and_bounds_as_one_interval(self):
        columns = (
            Column("n", "n"),
            Column("x", "x", 2),
            *interval(),
            p_value("p", "p"),
            Column("ok", "OK"),
            Column("tiny", "Tiny"),
        )
        rows = (
            (1234, -12.345, 0.1, 0.25, 0.0312, True, 0.5),
            (5, None, None, None, 0.0002, False, 0.0004),
            (5, -0.001, -0.0001, float("inf"), None, False, -0.0001),
        )
        text = latex_table(Table("t", "T", "c", columns, rows))
        body = text.split(r"\midrule")[1].split(r"\bottomrule")[0]
        assert r"{S[table-format=4]S[table-format=-2.2]rrlS[table-format=-1.3]}" in text
        assert r"{n} & {x} & Interval & $p$ & OK & {Tiny} \\" in text
        assert body.strip().splitlines() == [
            r"1234 & -12.35 & [\num{0.100}, \num{0.250}] & $.031$ & yes & 0.500 \\",
            r"5 & {--} & -- & $< .001$ & no & {$< 0.001$} \\",
            r"5 & 0.00 & [\num{0.000}, $\infty$] & -- & no & 0.000 \\",
        ]

    @pytest.mark.parametrize(("columns", "size"), [(6, None), (7, r"\footnotesize"), (11, r"\scriptsize")])
    def test_a_table_of_many_columns_is_set_smaller(self, columns, size):
        text = latex_table(Table("t", "T", "c", (Column("n", "n"),) * columns, ((1,) * columns,)))
        assert [found for found in (r"\footnotesize", r"\scriptsize") if found in text] == ([size] if size else [])

    def test_a_table_longer_than_a_page_goes_on_under_its_number(self):
        table = Table("t", "T", "c", (Column("n", "n"),), tuple((at,) for at in range(91)))
        first, *others = latex_table(table).split(r"\end{table}")[:-1]
        assert [len(re.findall(r"^\d+ \\\\$", part, re.MULTILINE)) for part in (first, *others)] == [45, 45, 1]
        assert [part.count(r"\addtocounter{table}{-1}") for part in (first, *others)] == [0, 1, 1]
        assert [part.count(r"\label{tab:t}") for part in (first, *others)] == [1, 0, 0]
        assert "T (part 3 of 3)." in others[-1]

    def test_markdown_shows_every_cell_whatever_the_bots_are_called(self):
        """The outside reader is markdown-it, with GitHub's tables."""
        report = AnalysisReport(analysis(HOSTILE, per_pair=1), None)
        tokens = MarkdownIt("commonmark").enable("table").parse(markdown_report(report))
        texts = [each for each in tokens if each.type == "inline"]
        assert {child.type for each in texts for child in each.children or ()} <= {"text", "text_special"}
        shown = {" ".join("".join(child.content for child in each.children or ()).split()) for each in texts}
        assert [each.type for each in tokens].count("table_open") == len(report.tables)
        assert [each.type for each in tokens].count("tr_open") == sum(len(each.rows) + 1 for each in report.tables)
        cells = {
            " ".join(column.shown(cell).split())
            for table in report.tables
            for row in table.rows
            for column, cell in zip(table.columns, row, strict=True)
        }
        assert cells | set(report.findings) <= shown

    def test_every_table_has_a_file_that_the_document_shows(self, folder, results):
        names = [table.key for table in tables(results)]
        assert {path.name for path in (folder / "tables").iterdir()} == {f"{name}.tex" for name in names}
        assert re.findall(r"\\input{tables/(\w+)}", (folder / "tables.tex").read_text()) == names

    @pytest.mark.skipif(TEX is None, reason="there is no TeX engine: install texlive-latex-base and texlive-science")
    def test_every_file_compiles_whatever_the_bots_are_called(self, tmp_path):
        assert TEX is not None
        found = tables(analysis(HOSTILE, per_pair=1))
        for table in found:
            (tmp_path / f"{table.key}.tex").write_text(latex_table(table))
        preamble = r"\documentclass{article}\usepackage{booktabs}\usepackage{siunitx}\begin{document}"
        files = "".join(rf"\input{{{table.key}}}\clearpage" for table in found)
        (tmp_path / "all.tex").write_text(rf"{preamble}{files}\end{{document}}")
        command = [TEX, "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-1500:]


class TestWords:
    def test_tables_of_corrected_tests_explain_an_adjusted_p_of_1(self, results):
        corrected, plain = (
            {table.key for table in tables(found) if "an adjusted p is at most 1" in table.caption}
            for found in (results, results.model_copy(update={"correction": "none"}))
        )
        assert {"win_rates", "log_rank", "features_ssa"} <= corrected
        assert not plain

    def test_the_worth_of_a_segment_is_said_where_one_game_is_a_conversation(self, results):
        draft = {"weighting": "log_exchanges"}
        said = [
            any("worth log(i);" in each for each in methods(results.model_copy(update=changed), None).sentences)
            for changed in (draft, draft | {"unit": "conversation"})
        ]
        assert said == [False, True]

    def test_only_works_that_were_used_are_cited(self, results):
        holm = methods(results, None)
        plain = methods(results.model_copy(update={"correction": "none"}), None)
        assert {work.key for work in holm.references} - {work.key for work in plain.references} == {"holm1979"}
        for number, _ in enumerate(holm.references, start=1):
            assert any(f"[{number}]" in sentence for sentence in holm.sentences)
