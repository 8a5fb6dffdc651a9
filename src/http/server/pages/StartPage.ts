import { Effect } from "effect"
import type { PlainRoute } from "../AnonymousRequests.ts"
import { cspHashOf, htmlResponse } from "./HtmlPage.ts"

interface Link {
  readonly path: string
  readonly title: string
  readonly description: string
}

/** The page links to those that this process serves. */
const links: ReadonlyArray<Link> = [
  { path: "/console", title: "Console", description: "Work with clients, contracts and invoices in the browser" },
  { path: "/docs", title: "API documentation", description: "Browse and try every operation" },
  { path: "/openapi.json", title: "OpenAPI document", description: "The same for tools and client generators" },
  { path: "/readyz", title: "Health", description: "Whether the database and the message broker are available" }
]

const style = `
:root { color-scheme: light dark; --text: #1c2521; --muted: #5b6963; --card: #ffffff; --line: #dde5e0; --back: #f5f8f6; --accent: #14633a }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6eeea; --muted: #9db0a7; --card: #18211d; --line: #2a3731; --back: #101613; --accent: #6fd3a0 }
}
body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.6 system-ui, sans-serif }
main { max-width: 44rem; margin: 0 auto; padding: 14vh 1.5rem 3rem }
h1 { margin: 0; font-size: 2.2rem; line-height: 1.2; letter-spacing: -0.02em }
p { margin: 0.8rem 0 2.2rem; color: var(--muted); font-size: 1.1rem }
ul { margin: 0; padding: 0; list-style: none; display: grid; gap: 0.8rem }
a {
  display: block; padding: 1rem 1.2rem; border: 1px solid var(--line); border-radius: 0.7rem; background: var(--card);
  color: inherit; text-decoration: none
}
a:hover, a:focus-visible { border-color: var(--accent); outline: none }
a strong { display: block; color: var(--accent) }
a span { color: var(--muted) }
`

const itemOf = ({ description, path, title }: Link) =>
  `<li><a href="${path}"><strong>${title}</strong><span>${description}</span></a></li>`

const pageOf = (shown: ReadonlyArray<Link>) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Contracting service</title>
<link rel="icon" href="data:,">
<style>${style}</style>
<main>
<h1>Contracting service</h1>
<p>Clients, contracts, projects and invoices for many tenants, over HTTP and JSON, with an event for every change.</p>
<ul>
${shown.map(itemOf).join("\n")}
</ul>
</main>
</html>
`

/** The page at `/`: what this is, and links to the other pages of this process. */
export const makeStartPageRoute = (pages: ReadonlyArray<PlainRoute>): PlainRoute => {
  const served = new Set<string>(pages.map(({ path }) => path))
  const response = htmlResponse(
    pageOf(links.filter(({ path }) => served.has(path))),
    `style-src ${cspHashOf(style)}`,
    "img-src data:"
  )
  return { path: "/", respond: () => Effect.succeed(response) }
}
