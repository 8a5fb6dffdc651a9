/** Does something at once; what is asked for during the pause that follows is done once, at its end. */
export const spaced = (pauseMillis: number, act: () => void) => {
  let isPausing = false
  let isAskedFor = false
  const go = () => {
    isAskedFor = false
    isPausing = true
    setTimeout(rest, pauseMillis).unref()
    act()
  }
  const rest = () => {
    isPausing = false
    if (isAskedFor) go()
  }
  return () => {
    if (isPausing) isAskedFor = true
    else go()
  }
}
