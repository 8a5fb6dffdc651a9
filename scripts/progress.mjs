const out = process.stderr
const quietMs = 1000

/**
 * Prints the progress of work: a running timer on a terminal, elsewhere a line at its start and end. When quiet, it
 * prints nothing for work that takes less than a second.
 */
export const during = async (label, { quiet }, work) => {
  const startedAt = Date.now()
  const elapsed = () => `${((Date.now() - startedAt) / 1000).toFixed(1)} s`
  let shown = false
  const show = () => {
    if (out.isTTY) out.write(`\r\x1b[2K… ${label} (${elapsed()})`)
    else if (!shown) out.write(`… ${label}\n`)
    shown = true
  }
  if (!quiet) show()
  const timer = setInterval(() => (!quiet || Date.now() - startedAt >= quietMs) && show(), 100)
  try {
    const result = await work()
    if (shown) out.write(`${out.isTTY ? "\r\x1b[2K" : ""}✓ ${label} (${elapsed()})\n`)
    return result
  } catch (error) {
    if (shown && out.isTTY) out.write("\n")
    throw error
  } finally {
    clearInterval(timer)
  }
}
