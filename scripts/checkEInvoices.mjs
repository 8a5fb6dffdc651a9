import { runProgram } from "./tool.mjs"

const help = `npm run check:e-invoices                            writes random e-invoices in both syntaxes and checks them with the
                                                    official schema of CII; compares their totals with the invoices',
                                                    and the XML in their hybrid PDFs with that of the API
npm run check:e-invoices -- --count 300             so many valid ones
npm run check:e-invoices -- --spoiled 60            and so many that break a rule; without it, one of each kind
npm run check:e-invoices -- --seed 1                chooses other ones
npm run check:e-invoices -- --validator <program>   validates every file with a program of yours, and compares the rules
                                                    that it names with those of our readiness check

The program gets XML files as arguments. For each it prints "<file> (<syntax>): …", then a line
"  fatal: [BR-…]-…" for each rule that is not met, or "<file>: could not be read". It exits with 0 if all files meet EN 16931
and with 1 if one does not.`

if (process.argv.includes("--help")) process.stdout.write(`${help}\n`)
else await runProgram("eInvoiceCheck", "test/support/eInvoiceCheck/main.ts", { quiet: true })
