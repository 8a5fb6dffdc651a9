/** Throttles `act`: the first call runs at once, calls during the interval run once at its end. */
export const throttle = (intervalMs: number, act: () => void) => {
  let isThrottled = false
  let isPending = false
  const run = () => {
    isPending = false
    isThrottled = true
    setTimeout(endInterval, intervalMs).unref()
    act()
  }
  const endInterval = () => {
    isThrottled = false
    if (isPending) run()
  }
  return () => {
    if (isThrottled) isPending = true
    else run()
  }
}
