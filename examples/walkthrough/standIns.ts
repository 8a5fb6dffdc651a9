import { startGoogleDrive } from "../../test/support/servers/googleDrive.ts"
import { startJira } from "../../test/support/servers/jira.ts"
import {
  clientSecret,
  oauthSettings,
  startOAuthProvider,
  trustedOrigin
} from "../../test/support/servers/oauthProvider.ts"
import { startReceiver } from "../../test/support/servers/receiver.ts"

/** The folder there is in the drive. */
export const driveFolder = "invoices-2026"

/** Where the application runs whose users authorize us. */
export const applicationOrigin = trustedOrigin

/** What signs a tracker's webhooks. */
export const trackerSecret = clientSecret

/** Those who are elsewhere in earnest: where people consent, a tracker, a drive, and a receiver of webhooks. */
export const startStandIns = async () => {
  const consent = await startOAuthProvider()
  const tracker = await startJira()
  const drive = await startGoogleDrive(driveFolder)
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
      ...oauthSettings(consent.url),
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
