import { Ajv2020 } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { assert } from "vitest"
import type { OpenApiDocument } from "../../../src/http/api/OpenApi.ts"

interface Told {
  readonly type: string
}

/** Checks events against the schema the document has for their very type. */
export const makeEventCheck = (document: OpenApiDocument) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema({ $id: "api", ...document })
  return (event: Told) => {
    const pointer = ["webhooks", event.type, "post", "requestBody", "content", "application~1json", "schema"]
    const validate = ajv.compile({ $ref: `api#/${pointer.join("/")}` })
    assert.isTrue(validate(event), `${event.type}: ${ajv.errorsText(validate.errors)}`)
  }
}
