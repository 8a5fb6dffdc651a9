import { assert, describe, it } from "vitest"
import { csvLine } from "../../src/domain/Csv.ts"

describe("csvLine", () => {
  it("separates values by commas and ends with CR LF", () => {
    assert.strictEqual(csvLine(["a", 1, -2.5, true, undefined, null]), "a,1,-2.5,true,,\r\n")
  })

  it("quotes values with commas, quotes and line breaks", () => {
    assert.strictEqual(
      csvLine(["a,b", 'say "hi"', "one\ntwo", "one\rtwo"]),
      '"a,b","say ""hi""","one\ntwo","one\rtwo"\r\n'
    )
  })

  it("writes lists and objects as JSON", () => {
    assert.strictEqual(csvLine([["a", "b"], { a: 1 }, []]), '"[""a"",""b""]","{""a"":1}",[]\r\n')
  })

  it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "＝1", "＋1", "－1", "＠x"])(
    "defuses the text %j, which looks like a formula",
    (text) => {
      assert.include([`'${text}\r\n`, `"'${text}"\r\n`], csvLine([text]))
    }
  )

  it("keeps texts that only contain such characters", () => {
    assert.strictEqual(csvLine(["a=1", "1-2", " =1"]), "a=1,1-2, =1\r\n")
  })
})
