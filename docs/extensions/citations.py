"""The five documents of the lab: what each is, and the letter that its rows begin with."""

from __future__ import annotations

from dataclasses import dataclass

from docutils import nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A document, cited in full."""

    letter: str
    """What its rows begin with."""
    word: str
    """What the letter stands for."""
    key: str
    """The name of its page, and the first word of its experiments' names."""
    short: str
    authors: str
    title: str
    kind: str
    """Translated title, kind, date and language."""

    def cited(self) -> list[nodes.Node]:
        """Return the citation, its title set apart; Hebrew words keep their own direction."""
        title = nodes.emphasis("", f"\u2068{self.title}\u2069")
        return [nodes.Text(f"{self.authors}, "), title, nodes.Text(f" {self.kind}.")]


CITATIONS = (
    Citation(
        letter="C",
        word="Canesse",
        key="canesse",
        short="Canesse 2022",
        authors="Alexi Canesse",
        title="Arbitrages statistiques dans l'apprentissage automatique confidentiel",
        kind="(Statistical trade-offs in private machine learning), internship report supervised "
        "by Aurélien Garivier, École normale supérieure de Lyon, 22 July 2022, in French",
    ),
    Citation(
        letter="A",
        word="Audibert",
        key="audibert",
        short="Audibert 2024",
        authors="Clémence Audibert",
        title="Rapport de stage de confidentialité différentielle",
        kind="(Report of an internship on differential privacy), supervised by Aurélien Garivier, "
        "July and August 2024, in French",
    ),
    Citation(
        letter="L",
        word="local privacy",
        key="couchot",
        short="Couchot 2023",
        authors="J.-F. Couchot",
        title="ε-LDP",
        kind="(the running title; LDP is local differential privacy), slides, 26 November 2023, "
        "in French",
    ),
    Citation(
        letter="W",
        word="wavelets",
        key="dubois",
        short="Dubois, Butucea, Kroll and Saumard 2019",
        authors="Amandine Dubois, Cristina Butucea, Martin Kroll and Adrien Saumard",
        title="Adaptation sur des espaces de Besov en estimation de la densité sous contrainte de "
        "confidentialité différentielle locale",
        kind="(Adaptation over Besov spaces in density estimation under local differential "
        "privacy), short paper, 2019, in French; the same authors' long paper is “Local "
        "differential privacy: Elbow effect in optimal density estimation and adaptation over "
        "Besov ellipsoids”, Bernoulli 26(3), 2020, in English",
    ),
    Citation(
        letter="S",
        word="Stemmer",
        key="stemmer",
        short="Stemmer's lecture 9",
        authors="Uri Stemmer",
        title="הרצאה 9: עוד אלגוריתמים אדפטיביים + תלויות במדגם",
        kind="(Lecture 9: more adaptive algorithms, and dependencies in the sample), lecture notes "
        "after those of Aaron Roth and Adam Smith, undated, in Hebrew",
    ),
)
