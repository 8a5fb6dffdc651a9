import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { html } from "../../src/domain/Html.ts"

const unescape = (markup: string) =>
  markup
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")

describe("The template html", () => {
  it("escapes every text so that it stays one text, in elements and in quoted attributes", () => {
    const texts = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom("<", ">", '"', "'", "&", ";", "a", "lt") }))
    fc.assert(
      fc.property(texts, (text) => {
        const { markup } = html`<b title="${text}">${text}</b>`
        const [, attribute = "", content = ""] =
          /^<b title="([^"<>]*)">([^<>]*)<\/b>$/.exec(markup) ?? assert.fail(markup)
        assert.strictEqual(unescape(attribute), text)
        assert.strictEqual(unescape(content), text)
      })
    )
  })

  it("keeps the markup of other templates, joins lists of them, and writes nothing for undefined", () => {
    const items = ["a", "<"].map((text) => html`<li>${text}</li>`)
    assert.strictEqual(html`<ul>${items}</ul>${undefined}${1}`.markup, "<ul><li>a</li><li>&lt;</li></ul>1")
  })
})
