/** The styles of the page: light or dark by the system's setting, one column on a phone. */
export const REPORT_STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --card: #fff; --ink: #171a23; --quiet: #5d6475; --accent: #2b6cb0; --on-accent: #fff; --shadow: none }
@media (prefers-color-scheme: dark) { :root { --card: #171a22; --ink: #e8eaf2; --quiet: #9aa2b5; --accent: #7ab8f5; --on-accent: #11121c } }
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 0 auto; padding: 1.5rem 1rem 4rem }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere } h2 { font-size: 1.1rem; margin: 2.5rem 0 .5rem }
p { margin: .25rem 0 } .quiet { opacity: .75 }
.player h3 { margin: 0 0 .5rem; font-size: 1rem }
.scroll { overflow-x: auto } table { border-collapse: collapse; min-width: 100% }
th, td { text-align: left; padding: .35rem 1rem .35rem 0; border-top: 1px solid var(--line); vertical-align: top } td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
code { font-size: .85em; overflow-wrap: anywhere }
.certificate { border: 1px solid var(--line); border-radius: .75rem; padding: 1rem; margin-top: 1rem } .certificate h2 { margin-top: 0 } .certificate h3 { font-size: 1rem; margin: 1rem 0 .25rem }
@page { size: A4; margin: 15mm }
@media print {
  :root { color-scheme: light }
  body:has(.certificate) { padding: 0; max-width: none; font-size: 10.5pt }
  body:has(.certificate) > header, main:has(.certificate) > :not(.certificate) { display: none }
  .certificate { border: 0; padding: 0; margin: 0; break-inside: avoid } .scroll { overflow: visible } table { width: 100% }
  .certificate :is(th, td) { padding: .2rem .6rem .2rem 0 }
}
@media (max-width: 40rem) {
  table { font-size: .9rem } th, td { padding-right: .6rem }
  /* The last of six columns moves below the others. */
  table:has(th:nth-child(6)) :is(thead, tbody) { display: block }
  table:has(th:nth-child(6)) tr { display: grid; grid-template-columns: 3.2rem 4.6rem 1fr 1.4fr 1.3fr; border-top: 1px solid var(--line) }
  table:has(th:nth-child(6)) :is(th, td) { border: 0; overflow-wrap: anywhere }
  table:has(th:nth-child(6)) :is(th, td):last-child { grid-column: 1 / -1; padding-top: 0; font-size: .8rem }
  table:has(th:nth-child(6)) td:empty { display: none }
}
`
