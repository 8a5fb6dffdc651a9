import { vi } from "vitest"

/** Lets all plans that were made so far be old; returns what undoes that. */
export const outlivePlans = () => {
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + 60_000)
  return () => clock.mockRestore()
}
