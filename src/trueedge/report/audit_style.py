"""The style rules of an audit's page that other pages do not have."""

from __future__ import annotations

from trueedge.audit.audit import VERDICTS


def style() -> str:
    """Return the rules; they filter by verdict without a script."""
    return STYLE + "".join(_hidden(chosen) for chosen in VERDICTS)


def _hidden(chosen: str) -> str:
    others = [verdict for verdict in VERDICTS if verdict != chosen]
    rows = [f"article.{verdict}, tbody tr:has(> th .badge.{verdict})" for verdict in others]
    return f"body:has(#only-{chosen}:checked) :is({', '.join(rows)}) {{ display: none }}\n"


STYLE = """
.filter { border: 0; margin: 0 0 1rem; padding: 0; display: flex; flex-wrap: wrap; gap: .5rem }
.filter legend { float: left; padding: .25rem .4rem .25rem 0; color: var(--muted); font-size: .875rem }
.filter label {
  position: relative; cursor: pointer; padding: .2rem .8rem; font-size: .875rem;
  border: 1px solid var(--line); border-radius: 999px;
}
.filter label:hover { border-color: var(--accent) }
.filter input { position: absolute; opacity: 0; inset: 0; margin: 0; cursor: pointer }
.filter label:has(:checked) { background: var(--ink); border-color: var(--ink); color: var(--surface) }
.filter label:has(:focus-visible) { outline: 2px solid var(--accent); outline-offset: 2px }
article {
  display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 7fr); gap: .25rem 2rem;
  padding: 1.4rem 0; border-top: 1px solid var(--line); scroll-margin-top: 3.5rem;
}
article.bare { padding: 1rem 0 }
article h3 { margin: .35rem 0 .1rem; font-size: 1.1rem }
article .asked { color: var(--muted); margin: 0 0 .5rem }
article .number {
  font-size: 1.9rem; font-weight: 650; line-height: 1.15; letter-spacing: -.01em; margin: .2rem 0 .4rem;
}
article figure { align-self: start }
article figcaption { font-weight: 500; font-size: .9rem; color: var(--muted) }
article > div > .quiet { margin-bottom: .2rem }
@media (max-width: 66rem) { article { grid-template-columns: minmax(0, 1fr) } }
@media (max-width: 40rem) {
  .verdicts :is(td.wide, th:last-child) { display: none }
  .verdicts td:not(.number) { white-space: normal }
}
@media print { .filter { display: none } article { break-inside: avoid } }
"""
