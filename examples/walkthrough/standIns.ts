import {
  clientSecret,
  providersAt,
  startAuthorizationServer,
  trustedOrigin
} from "../../test/support/authorizationServer.ts"
import { startDrive } from "../../test/support/driveServer.ts"
import { startReceiver } from "../../test/support/receiver.ts"
import { startTracker } from "../../test/support/trackerServer.ts"

/** The folder there is in the drive. */
export const driveFolder = "invoices-2026"

/** Where the application runs whose users authorize us. */
export const applicationOrigin = trustedOrigin

/** What signs a tracker's webhooks. */
export const trackerSecret = clientSecret

/** Those who are elsewhere in earnest: where people consent, a tracker, a drive, and a receiver of webhooks. */
export const startStandIns = async () => {
  const consent = await startAuthorizationServer()
  const tracker = await startTracker()
  const drive = await startDrive(driveFolder)
  const receiver = await startReceiver()
  const isIssued = (token: string) => consent.issued.includes(token)
  tracker.trust(isIssued)
  drive.trust(isIssued)
  return {
    consent,
    tracker,
    drive,
    receiver,

    /** What a service at this address is told to find them. */
    settingsFor: (publicUrl: string) => ({
      ...providersAt(consent.url),
      PUBLIC_URL: publicUrl,
      JIRA_API_URL: tracker.url,
      GOOGLE_API_URL: drive.url,
      DELIVERY_ALLOW: "127.0.0.0/8"
    }),

    stop: async () => {
      for (const one of [receiver, drive, tracker, consent]) await one.stop()
    }
  }
}

export type StandIns = Awaited<ReturnType<typeof startStandIns>>
