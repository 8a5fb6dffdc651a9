/** How many events are asked for; unset in the short run, which is part of all tests and says nothing. */
export const asked = process.env["EVENTS"]

export const say = (line: string) => {
  if (asked !== undefined) console.log(line)
}
