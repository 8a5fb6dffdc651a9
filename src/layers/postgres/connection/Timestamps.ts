/**
 * PostgreSQL writes `2026-11-14 09:30:00.12+00` in a UTC session, without trailing zeros of the fraction.
 * The API always shows milliseconds.
 */
export const toIso = (text: string) => {
  const fraction = text.slice(19, -3)
  return text.endsWith("+00") && text.length <= 26
    ? `${text.slice(0, 10)}T${text.slice(11, 19)}${fraction === "" ? ".000" : fraction.padEnd(4, "0")}Z`
    : new Date(text).toISOString()
}
