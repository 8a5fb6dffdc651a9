import type { Route } from "playwright-core"

const makeSignal = () => {
  let give = () => {}
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { given, give: () => give() }
}

/** Lets a request of a page, or its answer, wait until somebody releases it. */
export const holding = () => {
  const [arrival, release] = [makeSignal(), makeSignal()]
  const wait = () => {
    arrival.give()
    return release.given
  }
  const hold = async (route: Route, goOn: () => Promise<void> = () => route.continue()) => {
    await wait()
    await goOn()
  }
  return { hold, wait, arrived: arrival.given, release: release.give }
}
