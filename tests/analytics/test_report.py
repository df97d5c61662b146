"""A report: one page that needs nothing else, and the same tables for programs and papers."""

import csv
import json
from html.parser import HTMLParser

import pytest

from spotthebot.analytics.figures import FIGURES
from spotthebot.analytics.report import write_report
from spotthebot.analytics.report.files import as_csv
from spotthebot.analytics.report.latex import escape, latex_table
from spotthebot.analytics.report.methods import findings, methods
from spotthebot.analytics.report.table import Column, Table
from spotthebot.analytics.report.tables import tables
from spotthebot.contracts.analytics import Analysis, Stability
from tests.factories.analyses import analysis, stability


@pytest.fixture(scope="module")
def results():
    return analysis()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, results):
    """Write one report, which tests only read."""
    folder = tmp_path_factory.mktemp("written") / "report"
    write_report(results, stability(), folder)
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


def _page(path):
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


class TestPage:
    def test_needs_nothing_else(self, folder):
        page = _page(folder / "report.html")
        assert "script" not in page.tags
        assert page.fetched == []
        assert {tag for tag, _ in page.links} == {"a"}
        assert all(link.startswith(("#", "https://")) for _, link in page.links)
        assert "@import" not in (folder / "report.html").read_text()
        assert page.tags.count("svg") == 6
        assert len(page.ids) == len(set(page.ids)) > 6

    def test_every_table_has_a_caption_and_every_figure_words(self, folder):
        page = _page(folder / "report.html")
        assert page.tags.count("table") == page.tags.count("caption")
        assert page.tags.count("figure") == page.tags.count("figcaption") == 6

    def test_says_what_came_out_and_how(self, folder, results):
        text = " ".join(_page(folder / "report.html").text)
        assert findings(results)[0] in text
        assert results.data_sha256 in text
        for sentence in methods(results, stability()).sentences:
            assert sentence in text

    def test_preliminary_and_simulated_results_are_called_so(self, tmp_path):
        changed = analysis(prefix="simulated-").model_copy(update={"preliminary": True})
        write_report(changed, None, tmp_path)
        text = " ".join(_page(tmp_path / "report.html").text)
        assert "Preliminary." in text
        assert "Simulated annotators." in text
        assert "programs, not people" in text
        assert not (tmp_path / "figures" / "stability.svg").exists()

    def test_names_cannot_break_out(self, tmp_path):
        name = "<script>alert(1)</script>"
        write_report(analysis((name, "B")), None, tmp_path)
        page = _page(tmp_path / "report.html")
        assert "script" not in page.tags
        assert name in page.text


class TestFiles:
    def test_the_same_results_give_the_same_bytes(self, folder, tmp_path, results):
        write_report(results, stability(), tmp_path)
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
        assert Analysis.model_validate(document) == results

    def test_csv_reads_back_at_full_precision(self, folder, results):
        rows = list(csv.DictReader((folder / "csv" / "ranking.csv").read_text().splitlines()))
        assert [(row["bot"], float(row["win_rate"])) for row in rows] == [
            (bot.bot, bot.win_rate.estimate) for bot in results.ranking.bots
        ]
        assert {path.stem for path in (folder / "csv").iterdir()} == {table.key for table in tables(results)}

    def test_no_half_written_file_is_left(self, tmp_path, results):
        (tmp_path / "report.html").mkdir()  # so that the page cannot be put in its place
        with pytest.raises(OSError, match="report"):
            write_report(results, None, tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


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

    def test_tables_are_balanced(self, results):
        for table in tables(results):
            text = latex_table(table)
            assert text.count(r"\begin{") == text.count(r"\end{") == 2
            assert text.count("{") == text.count("}")
            body = text.split(r"\midrule")[1].split(r"\bottomrule")[0]
            rows = [line for line in body.strip().splitlines() if line]
            assert len(rows) == len(table.rows)
            assert all(row.count(" & ") == len(table.columns) - 1 for row in rows)


class TestWords:
    def test_findings_name_the_best_bot_and_the_bots_of_one_cluster(self, results):
        bots = [
            bot.model_copy(update={"cluster": cluster})
            for bot, cluster in zip(results.ranking.bots, (1, 2, 2), strict=True)
        ]
        changed = results.model_copy(update={"ranking": results.ranking.model_copy(update={"bots": tuple(bots)})})
        first, second, *_ = findings(changed)
        assert first == f"{bots[0].bot} is ahead of all others."
        assert second == f"{bots[1].bot} and {bots[2].bot} cannot be told apart either."

    def test_only_works_that_were_used_are_cited(self, results):
        holm = methods(results, None)
        plain = methods(results.model_copy(update={"correction": "none"}), None)
        assert {work.key for work in holm.references} - {work.key for work in plain.references} == {"holm1979"}
        for number, _ in enumerate(holm.references, start=1):
            assert any(f"[{number}]" in sentence for sentence in holm.sentences)
