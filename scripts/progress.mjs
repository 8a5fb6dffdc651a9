const out = process.stderr
const patience = 1000

/**
 * Shows that work is going on: one line that counts on a terminal, a line at its begin and end elsewhere. When quiet,
 * work that is done within a second leaves no trace.
 */
export const during = async (label, { quiet }, work) => {
  const began = Date.now()
  const elapsed = () => `${((Date.now() - began) / 1000).toFixed(1)} s`
  let shown = false
  const show = () => {
    if (out.isTTY) out.write(`\r\x1b[2K… ${label} (${elapsed()})`)
    else if (!shown) out.write(`… ${label}\n`)
    shown = true
  }
  if (!quiet) show()
  const timer = setInterval(() => (!quiet || Date.now() - began >= patience) && show(), 100)
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
