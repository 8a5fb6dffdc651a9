import type {
  ClientPage,
  PageLine,
  PartyBlock,
  PaymentBlock,
  Term,
  TotalRow
} from "../../../../domain/clientPage/ClientPage.ts"
import { type Html, html } from "../../../../domain/Html.ts"
import type { PageDocument } from "./PageDocument.ts"
import { renderQrCode } from "./QrCode.ts"

/** Texts of tenants can have another direction than the page: `dir="auto"` is on each of them. */
const renderTerm = ({ label, value }: Term) => html`<div><dt>${label}</dt><dd dir="auto">${value}</dd></div>`

const renderHeader = ({ hasLogo, issuer, number, texts }: ClientPage, token: string) => {
  const brand = hasLogo ? html`<img src="${token}/logo" alt="${issuer.name}">` : html`${issuer.name}`
  return html`<header>
<p class="brand" dir="auto">${brand}</p>
<h1>${texts.invoice} <b dir="auto">${number}</b></h1>
</header>`
}

const renderHero = ({ sentence, status, texts }: ClientPage, token: string) => html`<section class="hero">
<div>
<p class="status">${texts.status[status]}</p>
<p class="sentence">${sentence}</p>
</div>
<p><a class="button" href="${token}/pdf">${texts.pdf}</a></p>
</section>`

const renderPayment = ({ advice, qr, terms }: PaymentBlock, { texts }: ClientPage) => {
  const code =
    qr === undefined
      ? undefined
      : html`<figure>${renderQrCode(qr.payload, qr.alternative)}<figcaption>${texts.scan}</figcaption></figure>`
  const rows = terms.map(({ label, value }) => html`<dt>${label}</dt><dd dir="auto">${value}</dd>`)
  const details = rows.length === 0 ? undefined : html`<div class="pay"><dl>${rows}</dl>${code}</div>`
  return html`<section class="payment" aria-labelledby="payment">
<h2 id="payment">${texts.payment}</h2>
${details}
<p class="advice">${advice}</p>
</section>`
}

const renderParty = ({ lines, name, title }: PartyBlock) => html`<div>
<h2>${title}</h2>
<address>
<b dir="auto">${name}</b>${lines.map((line) => html`<br><span dir="auto">${line}</span>`)}
</address>
</div>`

const renderFacts = ({ issuer, recipient, terms, texts }: ClientPage) => html`<section>
<div class="facts">
${renderParty(issuer)}
${renderParty(recipient)}
</div>
</section>
<section aria-labelledby="details">
<h2 id="details">${texts.details}</h2>
<dl class="terms">${terms.map(renderTerm)}</dl>
</section>`

/** On a narrow screen, quantity and price are below the name instead of in columns of their own. */
const renderLine = ({ amount, details, name, quantity, unitPrice }: PageLine) => html`<tr>
<th scope="row" dir="auto">${name}${details.map((detail) => html`<small dir="auto">${detail}</small>`)}<small class="narrow">${quantity} × ${unitPrice}</small></th>
<td class="number wide">${quantity}</td>
<td class="number wide">${unitPrice}</td>
<td class="number">${amount}</td>
</tr>`

const renderLines = ({ hiddenLines, lines, texts }: ClientPage) => html`<section aria-labelledby="lines">
<h2 id="lines">${texts.lines}</h2>
<table aria-labelledby="lines">
<thead><tr><th scope="col">${texts.description}</th><th scope="col" class="number wide">${texts.quantity}</th><th scope="col" class="number wide">${texts.unitPrice}</th><th scope="col" class="number">${texts.amount}</th></tr></thead>
<tbody>
${lines.map(renderLine)}
</tbody>
</table>
${hiddenLines === undefined ? undefined : html`<p class="advice">${hiddenLines}</p>`}
</section>`

const renderTotal = ({ detail, isSum, label, value }: TotalRow) => html`<tr class="${isSum ? "sum" : "part"}">
<th scope="row" dir="auto">${label}${detail === undefined ? undefined : html`<small>${detail}</small>`}</th>
<td class="number">${value}</td>
</tr>`

const renderTotals = ({ exemptions, texts, totals }: ClientPage) => html`<section aria-label="${texts.totals}">
<table class="totals" aria-label="${texts.totals}">
<tbody>
${totals.map(renderTotal)}
</tbody>
</table>
${exemptions.map((reason) => html`<p class="advice text" dir="auto">${reason}</p>`)}
</section>`

const renderCreditNotes = ({ creditNotes, hasMoreCreditNotes, texts }: ClientPage) =>
  creditNotes.length === 0
    ? undefined
    : html`<section aria-labelledby="credit-notes">
<h2 id="credit-notes">${texts.creditNotes}</h2>
<table aria-labelledby="credit-notes">
<thead><tr><th scope="col">${texts.creditNote}</th><th scope="col">${texts.date}</th><th scope="col" class="number">${texts.amount}</th></tr></thead>
<tbody>
${creditNotes.map(
  ({ amount, date, number }) =>
    html`<tr><th scope="row" dir="auto">${number}</th><td>${date}</td><td class="number">${amount}</td></tr>`
)}
</tbody>
</table>
${hasMoreCreditNotes ? html`<p class="advice">${texts.moreCreditNotes}</p>` : undefined}
</section>`

const renderNotes = ({ notes, texts }: ClientPage) =>
  notes === undefined
    ? undefined
    : html`<section aria-labelledby="notes">
<h2 id="notes">${texts.notes}</h2>
<p class="text" dir="auto">${notes}</p>
</section>`

const renderContact = ({ contact, texts }: ClientPage) => {
  if (contact === undefined) return undefined
  const { email, name, phone } = contact
  const ways: ReadonlyArray<Html> = [
    ...(name === undefined ? [] : [html`${name}`]),
    ...(email === undefined ? [] : [html`<a href="mailto:${email}">${email}</a>`]),
    ...(phone === undefined ? [] : [html`${phone}`])
  ]
  return html`<footer>
<h2>${texts.questions}</h2>
<ul>${ways.map((way) => html`<li dir="auto">${way}</li>`)}</ul>
</footer>`
}

/** The page of an invoice. Its links are relative to the address with the token. */
export const renderClientPage = (page: ClientPage, token: string): PageDocument => ({
  language: page.language,
  title: `${page.texts.invoice} ${page.number} – ${page.texts.status[page.status]}`,
  content: html`<div class="sheet ${page.status}">
${renderHeader(page, token)}
<main>
${renderHero(page, token)}
${page.payment === undefined ? undefined : renderPayment(page.payment, page)}
${renderFacts(page)}
${renderLines(page)}
${renderTotals(page)}
${renderCreditNotes(page)}
${renderNotes(page)}
</main>
${renderContact(page)}
</div>`
})
