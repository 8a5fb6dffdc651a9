/** The number of events that `npm run chaos` sets; unset in `npm test`, which prints no progress. */
export const requestedEvents = process.env["EVENTS"]

export const logProgress = (line: string) => {
  if (requestedEvents !== undefined) console.log(line)
}
