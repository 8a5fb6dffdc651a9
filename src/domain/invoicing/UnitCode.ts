import { Schema } from "effect"
import { butIs } from "../RejectedValue.ts"
import { rule } from "../Schemas.ts"

/** The unit of a line that names none: "one". */
export const defaultUnitCode = "C62"

const unitCodePattern = /^[A-Z0-9]{2,3}$/

/**
 * A code of UN/ECE Recommendation 20, or of 21 with an X before it. Only the form is checked: the two lists have more
 * than 2000 codes, and no maintained package has both.
 */
export const UnitCode = Schema.String.pipe(
  Schema.filter(
    (code) => unitCodePattern.test(code),
    rule("pattern", butIs("must be a UN/ECE unit code of 2 or 3 capital letters and digits such as HUR"), {
      pattern: unitCodePattern.source
    })
  )
)
