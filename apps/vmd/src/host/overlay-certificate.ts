import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { writeDurably } from '@skerry/durable-file'
import { cloudDirectory, makeDirectory, type Paths } from '@skerry/engine'
import { Fault } from '@skerry/fault'
import { isDue, lifetimes, makeKey, makeRequest } from '@skerry/service'

import { askCells, readIfThere, requireKey } from './certificate.ts'
import type { Membership } from './membership.ts'

const PRIVATE = 0o700
/** How often a missing certificate is requested: the cloud may get its first network server at any time. */
const LOOK_MS = 15_000
/** How long after a certificate that is due at once: each further one would be, until the clock is right. */
const WRONG_CLOCK_MS = 600_000

/** The certificates of this host for OVN's database, each in its own directory, and a file that names the current one. */
const overlayIn = (paths: Paths): string => join(cloudDirectory(paths), 'overlay')
const CURRENT = 'current'

export interface OverlayCertificateOptions {
  readonly paths: Paths
  readonly membership: () => Membership
  readonly now: () => Date
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
  readonly log: (message: string, cause?: unknown) => void
}

/** Requests and renews the certificate until the signal is aborted. */
export async function keepOverlayCertificate(
  { paths, membership, now, pause, log }: OverlayCertificateOptions,
  signal: AbortSignal,
): Promise<void> {
  let reported: string | undefined
  while (!signal.aborted) {
    let pauseMs = LOOK_MS
    try {
      if (hasSwitch(paths) && (await isOverlayDue(paths, now()))) {
        await renewOverlay(paths, membership())
        log('the certificate of this host for networks across hosts was renewed')
        if (await isOverlayDue(paths, now())) {
          pauseMs = WRONG_CLOCK_MS
          log(
            'the new certificate for networks across hosts is not valid at the time of this host: its clock is late or early; set it',
          )
        }
      }
      reported = undefined
    } catch (error) {
      const { message } = error as Error
      // A cloud without network servers is no failure.
      const isNone = error instanceof Fault && error.kind === 'not-found'
      if (!isNone && message !== reported) {
        log('the certificate for networks across hosts could not be renewed; will retry', error)
      }
      reported = message
    }
    await pause(pauseMs, signal)
  }
}

/** Only a host with Open vSwitch needs the certificate. */
const hasSwitch = ({ openvswitch }: Paths): boolean => existsSync(join(openvswitch, 'db.sock'))

async function isOverlayDue(paths: Paths, now: Date): Promise<boolean> {
  const directory = overlayIn(paths)
  const name = await readIfThere(join(directory, CURRENT))
  if (name === undefined) return true
  const cert = await readIfThere(join(directory, name.trim(), 'certificate.pem'))
  return cert === undefined || isDue(cert, now, lifetimes.overlay.renewMs)
}

/**
 * Gets a certificate for a new key. Key, certificate and issuers are in a new directory, which becomes the current one when it is
 * complete; the one before stays, because Open vSwitch may still read it.
 */
export async function renewOverlay(paths: Paths, membership: Membership): Promise<void> {
  const key = await makeKey()
  const body = { csr: await makeRequest(key) }
  const issued = await askCells(membership, '/machine/v1/overlay', body, (answer) =>
    requireKey(new X509Certificate(answer.certificate), key),
  )
  const directory = overlayIn(paths)
  const before = (await readIfThere(join(directory, CURRENT)))?.trim()
  const name = new X509Certificate(issued.certificate).serialNumber.toLowerCase()
  await makeDirectory(directory, PRIVATE)
  await makeDirectory(join(directory, name), PRIVATE)
  const write = (file: string, text: string) => writeDurably(join(directory, name, file), text)
  await write('key.pem', key)
  await write('certificate.pem', issued.certificate)
  await write('issuers.pem', issued.issuers)
  await writeDurably(join(directory, CURRENT), `${name}\n`)
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name === name || entry.name === before) continue
    await rm(join(directory, entry.name), { recursive: true })
  }
}
