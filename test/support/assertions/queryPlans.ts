import { vi } from "vitest"

/** Makes every cached plan look a minute old. Returns a function that restores the clock. */
export const outlivePlans = () => {
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + 60_000)
  return () => clock.mockRestore()
}
