/** How many random cases a test runs: few in `npm test`, all of them with `npm test -- --thorough`. */
export const caseCount = (few: number, all: number) => (process.env["TEST_THOROUGH"] === undefined ? few : all)
