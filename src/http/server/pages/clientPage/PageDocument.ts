import { type Html, html } from "../../../../domain/Html.ts"
import type { Language } from "../../../../domain/locale/Language.ts"
import { pageStyle } from "./PageStyle.ts"

export interface PageDocument {
  readonly language: Language
  readonly title: string
  readonly content: Html
}

const renderHead = ({ language, title }: PageDocument) => html`<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="format-detection" content="telephone=no">
<title>${title}</title>
<link rel="icon" href="data:,">
`

/** The style is no value of a template, which would escape it. */
export const renderDocument = (document: PageDocument) => `${renderHead(document).markup}<style>${pageStyle}</style>
<body>
${document.content.markup}
</body>
</html>
`
