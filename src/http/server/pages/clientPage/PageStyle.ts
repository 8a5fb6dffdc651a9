/** The stylesheet of the page. Constant, so that the Content-Security-Policy can allow it by its hash. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --text: #17211c; --muted: #55625b; --line: #dfe5e1; --sheet: #ffffff; --back: #f1f4f2; --soft: #f6f8f7;
  --open: #1c4fa8; --overdue: #b3261e; --part: #8a5200; --paid: #14663c; --closed: #4d5a54
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e8eeea; --muted: #a3b1a9; --line: #303a34; --sheet: #171d1a; --back: #0e1210; --soft: #1e2622;
    --open: #8db6ff; --overdue: #ff9d94; --part: #f2bd68; --paid: #79d6a4; --closed: #b4c0b9
  }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere }
h1, h2, p, dl, dd, ul, table, figure, address { margin: 0; padding: 0; font-style: normal; list-style: none }
.sheet {
  max-width: 52rem; margin: 2.5rem auto; background: var(--sheet); border: 1px solid var(--line); border-radius: 0.75rem;
  overflow: hidden
}
.sheet::before { content: ""; display: block; height: 0.375rem; background: var(--status) }
.OPEN { --status: var(--open) } .OVERDUE { --status: var(--overdue) } .PARTIALLY_PAID { --status: var(--part) }
.PAID { --status: var(--paid) } .CREDITED, .SETTLED, .VOID, .error { --status: var(--closed) }
header, section, footer { padding: 1.25rem 2.5rem }
header { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 1rem 2rem; padding-top: 2rem }
main { padding-bottom: 1rem }
.brand { font-size: 1.125rem; font-weight: 650 }
.brand img { display: block; max-width: min(14rem, 100%); max-height: 4rem; border-radius: 0.25rem }
h1 { font-size: 1rem; font-weight: 400; color: var(--muted) }
h1 b { color: var(--text); font-weight: 600 }
h2 { margin-bottom: 0.75rem; font-size: 0.875rem; font-weight: 600; color: var(--muted) }
.hero { padding-bottom: 1.75rem; display: flex; flex-wrap: wrap; align-items: end; justify-content: space-between; gap: 1.25rem 2rem }
.status {
  font-size: clamp(2.25rem, 8vw, 3.5rem); line-height: 1.1; font-weight: 750; letter-spacing: -0.02em;
  text-transform: uppercase; color: var(--status)
}
.sentence { margin-top: 0.5rem; font-size: 1.125rem }
.button {
  display: inline-block; padding: 0.625rem 1.25rem; border: 1px solid var(--text); border-radius: 0.5rem; color: inherit;
  font-weight: 600; text-decoration: none
}
.button:hover { background: var(--text); color: var(--sheet) }
a { color: inherit; text-underline-offset: 0.15em }
a:focus-visible { outline: 3px solid var(--open); outline-offset: 2px }
.payment { margin: 0 2.5rem 1rem; padding: 1.5rem; background: var(--soft); border: 1px solid var(--line); border-radius: 0.75rem }
.pay { display: flex; flex-wrap: wrap; gap: 1.5rem 2rem; justify-content: space-between }
.pay dl { flex: 1 1 16rem; display: grid; grid-template-columns: max-content 1fr; gap: 0.375rem 1.25rem; align-content: start }
.pay dd { font-weight: 600; font-variant-numeric: tabular-nums }
dt { color: var(--muted) }
figure { flex: none; width: 10.5rem; font-size: 0.875rem; text-align: center; color: var(--muted) }
.qr { display: block; width: 100%; margin-bottom: 0.375rem; border-radius: 0.5rem }
.advice { margin-top: 1rem; font-size: 0.875rem; color: var(--muted) }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(14rem, 100%), 1fr)); gap: 1.75rem 2.5rem }
.facts b { font-weight: 600 }
.terms { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(10rem, 100%), 1fr)); gap: 1rem 1.5rem }
.terms dt { font-size: 0.875rem }
table { width: 100%; border-collapse: collapse }
th, td { padding: 0.75rem 0; text-align: start; vertical-align: top; font-weight: 400 }
thead th { padding-top: 0; font-size: 0.875rem; color: var(--muted) }
thead th, tbody > * > * { border-bottom: 1px solid var(--line) }
.number { padding-inline-start: 1.25rem; text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap }
td small, th small { display: block; font-size: 0.875rem; color: var(--muted); white-space: pre-line }
.narrow { display: none }
.totals { width: min(26rem, 100%); margin-inline-start: auto }
.totals > * > * > * { padding: 0.4375rem 0; border: 0 }
.totals .number { padding-inline-start: 1.25rem }
.totals .sum > * { border-top: 1px solid var(--line); font-weight: 650 }
.totals tr:last-child > * { font-size: 1.125rem }
.text { white-space: pre-line }
footer { border-top: 1px solid var(--line); font-size: 0.9375rem }
footer ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem }
.error section { padding-block: 3rem }
.error h1 { margin-bottom: 0.5rem; font-size: 1.5rem; font-weight: 650; color: var(--text) }
@media (prefers-color-scheme: dark) { .brand img { padding: 0.5rem; background: #ffffff } }
@media (max-width: 40rem) {
  .sheet { margin: 0; border: 0; border-radius: 0 }
  header, section, footer { padding: 1rem 1.25rem }
  header { padding-top: 1.5rem; gap: 0.5rem }
  .payment { margin: 0 1.25rem 1rem; padding: 1.25rem }
  .pay dl { grid-template-columns: 1fr; gap: 0 }
  .pay dd { margin-bottom: 0.625rem }
  figure { width: 100%; max-width: 14rem; margin: 0 auto }
  .wide { display: none }
  .narrow { display: block }
}
@media print {
  :root {
    font-size: 10pt; --text: #000000; --muted: #444444; --line: #bbbbbb; --sheet: #ffffff; --back: #ffffff; --soft: #ffffff;
    --open: #000000; --overdue: #000000; --part: #000000; --paid: #000000; --closed: #000000
  }
  .sheet { max-width: none; margin: 0; border: 0; overflow: visible }
  .sheet::before { display: none }
  header, section, footer { padding: 0.5rem 0 }
  .payment { margin: 0.5rem 0; padding: 0.75rem }
  .brand img { padding: 0 }
  .button { display: none }
  tr, figure, .payment, .facts > * { break-inside: avoid }
}
`
